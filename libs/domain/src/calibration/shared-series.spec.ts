import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { gateDefaults, replayGate } from '../gate/index.js';

const DIR = '../shared/data/series';
const permutations = (values: readonly number[]): number[][] =>
  values.length <= 1
    ? [[...values]]
    : values.flatMap((value, at) => permutations(values.toSpliced(at, 1)).map((rest) => [value, ...rest]));

// In CI the lent files are there; that they are missing must not pass for a skip.
const series = existsSync(DIR) || process.env['CI'] === 'true' ? describe : describe.skip;
series('series of real agents (skipped where ../shared/data/series is absent)', () => {
  it('three seeds of an unchanged agent are no regression, in whatever order they come', () => {
    const { pass_1_per_seed } = JSON.parse(readFileSync(`${DIR}/tau-bench-airline-seed-variance.json`, 'utf8')) as {
      pass_1_per_seed: Record<string, number>;
    };
    const orders = permutations(Object.values(pass_1_per_seed));
    expect(orders).toHaveLength(6);
    for (const values of orders)
      expect(replayGate({ values }).verdicts.map(({ stalled, regressed }) => stalled || regressed)).toEqual([
        false,
        false,
        false,
      ]);
  });

  it('solved shares of an agent that learns no more first gain, then stall below a target that is out of reach', () => {
    const rows = readFileSync(`${DIR}/alfworld-base.tsv`, 'utf8')
      .trim()
      .split('\n')
      .map((row) => row.split('\t'))
      .filter(([name]) => name?.startsWith('env_'));
    const solved = Array.from({ length: 7 }, (_, trial) => rows.filter((row) => row[trial + 1] === '1').length);
    expect([rows.length, ...solved]).toEqual([134, 84, 94, 97, 98, 100, 101, 101]);
    const values = solved.map((count) => count / rows.length);
    const { verdicts } = replayGate({ values, config: { ...gateDefaults, gate_target: 0.9, gate_window: 2 } });
    expect(verdicts.slice(0, 3).map(({ turns_since_gain: since }) => since)).toEqual([0, 0, 0]);
    expect(verdicts.map(({ stalled }) => stalled)).toEqual([false, false, false, false, false, false, true]);
    expect(verdicts.some(({ regressed }) => regressed)).toBe(false);
    // With the default target the agent is good enough from the start, however long it rests.
    const resting = [...values, ...Array<number>(6).fill(values.at(-1) ?? 0)];
    expect(replayGate({ values: resting }).verdicts.some(({ stalled }) => stalled)).toBe(false);
  });
});
