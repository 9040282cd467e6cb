import { turnEndedInput, type Turn } from '#contracts';
import { runCheck } from '#domain/checks';
import { describe, expect, it } from '@jest/globals';
import { sampleTurns } from './index.js';

const WINDOW = 5;
const TARGET = 0.5;
const GAIN = 0.02;
const DROP = 0.15;
const THRESHOLD = 0.5;

const turns = sampleTurns().map(
  (turn) => turnEndedInput.parse(turn) as unknown as Turn & { session_id: string; turn_index: number },
);

function session(id: string): Turn[] {
  return turns.filter((turn) => turn.session_id === id);
}

function value(metric: string, turn: Turn): number | null {
  return runCheck(metric, turn.traces![0]!, { turn, earlierAnswers: [] }).value;
}

/** BEHAVIOUR 2, rules 1 to 4, written out: what fires and what stands after each value. */
function gate(values: readonly number[]): { fired: string[]; standing: string[] }[] {
  let peak: number | undefined;
  let since = 0;
  const standing = new Set<string>();
  return values.map((v) => {
    const fired: string[] = [];
    if (peak === undefined || v >= peak + GAIN) {
      peak = Math.max(peak ?? v, v);
      since = 0;
      standing.delete('stall');
    } else {
      since += 1;
      if (since >= WINDOW && peak < TARGET) fired.push('stall');
      if (v < peak - DROP) fired.push('regression');
      if (fired.length > 0) since = 0;
    }
    if (v >= peak - DROP) standing.delete('regression');
    for (const condition of fired) standing.add(condition);
    return { fired, standing: [...standing] };
  });
}

function breaches(turn: Turn): string[] {
  return ['tool_correctness', 'argument_correctness'].filter((metric) => (value(metric, turn) ?? 1) < THRESHOLD);
}

describe('the sample sessions', () => {
  it('are about thirty valid turns in three sessions that end once each, the same on every call', () => {
    expect(turns).toHaveLength(30);
    expect(new Set(turns.map((turn) => turn.session_id)).size).toBe(3);
    expect(turns.filter((turn) => (turn as { final?: boolean }).final === true)).toHaveLength(3);
    expect(sampleTurns()).toEqual(sampleTurns());
    for (const id of new Set(turns.map((turn) => turn.session_id))) {
      expect(turns.filter((turn) => turn.session_id === id).map((turn) => turn.turn_index)).toEqual(
        session(id).map((_, index) => index),
      );
    }
  });

  it('hold one healthy session: nothing fires, nothing breaches', () => {
    const healthy = session('sample-desk-healthy');
    const values = healthy.map((turn) => value('task_completion', turn) ?? -1);
    expect(values).toEqual(healthy.map(() => 1));
    expect(gate(values).flatMap(({ fired }) => fired)).toEqual([]);
    expect(healthy.flatMap(breaches)).toEqual([]);
  });

  it('hold one that stalls at its sixth turn, with both tier 2 metrics breached there', () => {
    const stuck = session('sample-desk-stuck');
    const values = stuck.map((turn) => value('task_completion', turn) ?? -1);
    expect(values).toEqual([0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4]);
    const firings = gate(values);
    expect(firings.map(({ fired }) => fired.join())).toEqual(['', '', '', '', '', 'stall', '', '', '']);
    expect(firings.at(-1)?.standing).toEqual(['stall']);
    expect(stuck.map((turn) => value('tool_correctness', turn))).toEqual([0, 0, 0, 0.5, 0, 0, 0, 0, 0]);
    expect(stuck.map((turn) => value('argument_correctness', turn))).toEqual([0, 0, 0, 0.5, 0, 0, 0, 0, 0]);
    expect(breaches(stuck[5]!)).toEqual(['tool_correctness', 'argument_correctness']);
  });

  it('hold one that falls back at its fifth turn and has recovered by its seventh', () => {
    const recovering = session('sample-desk-recovering');
    const values = recovering.map((turn) => value('task_completion', turn) ?? -1);
    expect(values).toEqual([1, 1, 1, 1, 0.4, 0.4, 1, 1, 1, 1]);
    const firings = gate(values);
    expect(firings.map(({ fired }) => fired.join())).toEqual(['', '', '', '', 'regression', 'regression', '', '', '', '']);
    expect(firings.map(({ standing }) => standing.length)).toEqual([0, 0, 0, 0, 1, 1, 0, 0, 0, 0]);
    expect(breaches(recovering[4]!)).toEqual(['tool_correctness']);
  });
});
