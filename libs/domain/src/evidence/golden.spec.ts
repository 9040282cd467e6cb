import { existsSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { compareFile } from '../../../../test/golden/compare-file.js';
import { compareWithSeed } from '../../../../test/golden/seed-replay.js';
import type { ReplayLine } from './index.js';

const DIR = '../shared/golden';

// In CI the lent files are there; that they are missing must not pass for a skip.
const golden = existsSync(DIR) || process.env['CI'] === 'true' ? describe : describe.skip;
golden('golden answers (skipped where ../shared/golden is absent)', () => {
  it.each([
    ['evidence', { live: 80, pairs: 40, arm: 60 }],
    ['verdict', { forward: 102, replay: 117, engine: 5, observe: 2, baseline: 3, regression: 52 }],
    ['evalset', { evalset: 30 }],
  ])('%s: every line is equal, logarithms within 1e-9, and the seed’s answers with the seed’s habits', async (file, lines) => {
    const results = await compareFile(`${DIR}/${file}.jsonl`, file);
    expect(Object.fromEntries(results.map(({ kind, equal }) => [kind, equal]))).toEqual(lines);
    expect(results.flatMap(({ differences }) => differences)).toEqual([]);
  });

  it('verdict: our three habits change 54 replay lines, the outcome or the pending reason in 17 of them', () => {
    const lines = readFileSync(`${DIR}/verdict.jsonl`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ReplayLine & { kind: string })
      .filter(({ kind }) => kind === 'replay');
    const changed = lines.map(compareWithSeed).filter(({ seed, ours }) => !isDeepStrictEqual(seed, ours));
    expect(changed).toHaveLength(54);
    expect(changed.every(({ reasons }) => reasons.length > 0)).toBe(true);
    const decided = changed.filter(
      ({ seed, ours }) => seed.outcome !== ours.outcome || seed.pending_reason !== ours.pending_reason,
    );
    expect(decided).toHaveLength(17);
  });
});
