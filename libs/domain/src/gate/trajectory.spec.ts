import { describe, expect, it } from '@jest/globals';
import { projectSettings, type Score } from '#contracts';
import { gateConfig } from './config.js';
import { foldTurn, signatureOf, standingSignatures, untouched, type Evidence, type Trajectory } from './trajectory.js';

const config = gateConfig(projectSettings.parse({ gate_window: 2 }));
const score = (metric: string, value: number | null, more: Partial<Score> = {}): Score => ({
  ...{
    metric,
    value,
    status: value === null ? 'not_applicable' : 'scored',
    trace_id: 't',
    source: 'check',
    evaluator: 'check/1',
    reason: null,
    code: null,
    spans: [],
  },
  ...more,
});
const evidence = (tier1: number | Score[], tier2?: Score[], tier0?: Score[]): Evidence => ({
  1: { answer: 1, pending: false, scores: typeof tier1 === 'number' ? [score('task_completion', tier1)] : tier1 },
  ...(tier2 ? { 2: { answer: 1, pending: false, scores: tier2 } } : {}),
  ...(tier0 ? { 0: { answer: 1, pending: false, scores: tier0 } } : {}),
});

/** Folds turns; shows per turn what fired, what stands after it and which tiers it asks for. */
function run(turns: Evidence[], use = config) {
  let state: Trajectory = untouched;
  return turns.map((turn) => {
    const verdict = foldTurn(state, turn, use);
    state = verdict.after;
    return { fired: verdict.fired.map(signatureOf), standing: standingSignatures(state), asked: verdict.asked };
  });
}

const stuck = [evidence(0.2), evidence(0.2), evidence(0.2, [score('tool_correctness', 0.1)])];

describe('a session', () => {
  it('asks for tier 2 only in the turn in which tier 1 fired', () => {
    expect(run([...stuck, evidence(0.2)]).map(({ asked }) => asked)).toEqual([[1], [1], [1, 2], [1]]);
  });
  it('keeps a problem standing between its firings: a stuck session is one problem', () => {
    const turns = run([...stuck, evidence(0.2), evidence(0.2, [])]);
    expect(turns.map(({ fired }) => fired)).toEqual([
      [],
      [],
      ['stall:task_completion', 'breach:tool_correctness'],
      [],
      ['stall:task_completion'],
    ]);
    expect(turns.slice(2).map(({ standing }) => standing)).toEqual(
      Array(3).fill(['breach:tool_correctness', 'stall:task_completion']),
    );
  });
  it('clears a stall when the peak rises, and with it the tier 2 breach that it had asked for', () => {
    expect(run([...stuck, evidence(0.25)])[3]).toEqual({ fired: [], standing: [], asked: [1] });
  });
  it('clears a tier 2 breach when that metric is measured at its threshold, not when it is not measured', () => {
    const again = (tool: number | null) =>
      run([...stuck, evidence(0.2), evidence(0.2, [score('tool_correctness', tool)])])[4]?.standing;
    expect(again(0.5)).toEqual(['stall:task_completion']);
    expect(again(null)).toEqual(['breach:tool_correctness', 'stall:task_completion']);
  });
  it('clears a regression when the value is back within the drop', () => {
    const turns = run([evidence(0.9), evidence(0.6, []), evidence(0.74, []), evidence(0.76)]);
    expect(turns.map(({ standing }) => standing)).toEqual([
      [],
      ['regression:task_completion'],
      ['regression:task_completion'],
      [],
    ]);
  });
  it('keeps a verifier breach until the verifier answers at or above its threshold', () => {
    const outcome = (value: number) => [score('outcome_correct', value, { source: 'verifier' })];
    const turns = run([evidence(1, undefined, outcome(0.89)), evidence(1), evidence(1, undefined, outcome(0.9))]);
    expect(turns.map(({ standing }) => standing)).toEqual([['breach:outcome_correct'], ['breach:outcome_correct'], []]);
    expect(turns[0]?.asked).toEqual([0, 1]);
  });
  it('never lets pending, failed and not-applicable scores reach the gate', () => {
    const silent = (['pending', 'failed', 'not_applicable'] as const).map((status) =>
      evidence([score('task_completion', null, { status })]),
    );
    expect(run([evidence(0.9), ...silent]).every(({ fired, standing }) => fired.length + standing.length === 0)).toBe(true);
  });
  it('folds lexical coherence without letting it fire, until a project sets a target for it', () => {
    const drop = [0.9, 0.1, 0.1].map((value) => evidence([score('coherence', value, { source: 'lexical' })]));
    expect(run(drop).flatMap(({ fired }) => fired)).toEqual([]);
    const targeted = gateConfig(projectSettings.parse({ gate_overrides: { 'coherence@lexical': { gate_target: 0.3 } } }));
    expect(run(drop, targeted).flatMap(({ fired }) => fired)).toContain('regression:coherence');
  });
  it('judges several traces of a turn in their order', () => {
    const traces = [0.9, 0.5, 0.9].map((value, index) => score('task_completion', value, { trace_id: `t${index}` }));
    const [turn] = run([evidence(traces, [])]);
    expect(turn).toEqual({ fired: ['regression:task_completion'], standing: [], asked: [1, 2] });
  });
  it('asks for tier 3 only when it is enabled and tier 2 breached', () => {
    const enabled = gateConfig(projectSettings.parse({ gate_window: 2, enable_tier3: true }));
    expect(run(stuck, enabled)[2]?.asked).toEqual([1, 2, 3]);
    expect(run([...stuck.slice(0, 2), evidence(0.2, [score('tool_correctness', 0.5)])], enabled)[2]?.asked).toEqual([1, 2]);
  });
  it('compares strictly: a value equal to its threshold does not breach', () => {
    expect(run([...stuck.slice(0, 2), evidence(0.2, [score('tool_correctness', 0.5)])])[2]?.standing).toEqual([
      'stall:task_completion',
    ]);
  });
});
