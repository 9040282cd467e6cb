import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { answerSimulation } from './simulations.js';
import { answerTrial, type TrialAnswer } from './trials.js';

const evaluate = (line: object, trace = false) => answerTrial(trace)(line) as TrialAnswer;
const session = (arm: string, breached: boolean) => ({ arm, breached });
/** Breaches in control only: every two sessions one more in each arm. */
const helped = (pairs: number) =>
  Array.from({ length: pairs }, () => [session('treatment', false), session('control', true)]).flat();

describe('trial evaluate', () => {
  it('answers logarithms, the first verdict and what it rests on', () => {
    const answer = evaluate({ kind: 'live', observations: helped(10) });
    expect(answer).toMatchObject({ verdict: 'promote', reason: null, decided_at: 9, effect: 1, pairs: 0, sessions_needed: null });
    expect(answer.at_verdict.logE).toBeGreaterThanOrEqual(Math.log(20));
    expect(answer.logE).toBeGreaterThan(answer.at_verdict.logE);
    expect(answer.effect_interval?.low).toBeLessThan(1);
  });

  it('answers one logarithm per observation with trace, the last of which is the answer without', () => {
    const line = { kind: 'pairs', deltas: [0.2, -0.1, 0.3] };
    const { logE } = evaluate(line, true);
    expect(logE).toHaveLength(3);
    expect(logE).toHaveProperty('2', evaluate(line).logE);
  });

  it('takes a smaller alpha, also shared among candidates', () => {
    const line = { kind: 'live', observations: helped(6) };
    expect(evaluate(line).verdict).toBe('promote');
    expect(evaluate({ ...line, alpha: 0.001 })).toMatchObject({ verdict: 'pending', reason: 'trial_in_progress' });
    expect(evaluate({ ...line, candidates: 50 })).toEqual(evaluate({ ...line, alpha: 0.001 }));
  });

  it('takes sessions, pairs and wins in the order in which they were counted', () => {
    const observations = [...helped(4), { delta: 0.4 }, { case: 'c-1', deltas: { coherence: 0 } }];
    expect(evaluate({ kind: 'trial', observations, chosen_wins: ['c-1'] })).toMatchObject({ verdict: 'promote', pairs: 1 });
    const fall = Array.from({ length: 9 }, () => ({ case: 'c-1', deltas: { coherence: -0.5 } }));
    expect(evaluate({ kind: 'trial', observations: fall })).toMatchObject({ verdict: 'retire', reason: 'harmful' });
  });

  it('says nothing of no observations, and retires by time alone', () => {
    const nothing = { kind: 'live', observations: [] };
    expect(evaluate(nothing)).toMatchObject({ logE: 0, logEHarm: 0, verdict: 'pending', effect: null, effect_interval: null });
    expect(evaluate({ ...nothing, age_days: 30 })).toMatchObject({ verdict: 'retire', reason: 'unproven', decided_at: null });
  });

  it('answers the arm of a session', () => {
    const line = { kind: 'arm', ruleId: 'r', sessionId: 's', salt: 'x', allocation: 0.5 };
    expect(answerTrial(false)(line)).toEqual({ u: expect.any(Number), arm: expect.any(String) });
  });

  it.each<[object, string]>([
    [{ kind: 'other' }, 'kind'],
    [{ kind: 'live', observations: [{}] }, 'observations.0.arm'],
    [{ kind: 'live', observations: [{ arm: 'control' }] }, 'observations.0.breached'],
    [{ kind: 'live', observations: [], allocation: 1 }, 'allocation'],
    [{ kind: 'live', observations: [], alpha: 0 }, 'alpha'],
    [{ kind: 'live', observations: [], config: { trial_alpa: 1 } }, 'config.trial_alpa'],
    [{ kind: 'live', observations: [], config: { trial_alpha_harm: 2 } }, 'trial_alpha_harm'],
    [{ kind: 'pairs', deltas: [2] }, 'delta'],
    [{ kind: 'trial', observations: [{ case: 'c', deltas: { m: 'x' } }] }, 'observations.0.deltas.m'],
  ])('refuses %j', (line, reason) => {
    expect(() => evaluate(line)).toThrow(reason);
  });
});

describe('trial simulate', () => {
  const simulate = answerSimulation({ runs: 60 });

  it('answers shares that add up to 1, the same for the same seed', () => {
    const line = { base_rate: 0.5, effect: 0.25, sessions: 50 };
    const answer = simulate(line);
    expect(answer.promoted + answer.harmful + answer.unproven).toBeCloseTo(1, 12);
    expect(simulate({ ...line, seed: 1 })).toEqual(answer);
    expect(simulate({ ...line, seed: 2 })).not.toEqual(answer);
  });

  it('takes pairs and the threshold method', () => {
    expect(simulate({ kind: 'pairs', effect: 0.4, deviation: 0.05 })).toMatchObject({ promoted: 1 });
    expect(simulate({ kind: 'pairs', effect: 0.4, deviation: 0.05, method: 'threshold' })).toMatchObject({ promoted: 1 });
    expect(simulate({ base_rate: 0, effect: 0, method: 'threshold' })).toMatchObject({ promoted: 1 });
  });

  it.each<[object, string]>([
    [{}, 'base_rate'],
    [{ base_rate: 1.5 }, 'base_rate'],
    [{ base_rate: 0.5, runs: 1.5 }, 'runs'],
    [{ base_rate: 0.5, deviation: 0.1 }, 'deviation'],
    [{ kind: 'both' }, 'kind'],
    [{ base_rate: 0.5, method: 'guess' }, 'method'],
    [{ base_rate: 0.5, allocation: 0 }, 'allocation'],
  ])('refuses %j', (line, reason) => {
    expect(() => simulate(line)).toThrow(reason);
  });
});

describe('docs/evidence.md', () => {
  const text = readFileSync(new URL('../../../../docs/evidence.md', import.meta.url), 'utf8');
  /** Rows of the table of worked examples: line as code, logarithm, verdict. */
  const rows = [...text.matchAll(/^\| `(\{.*\})` \| (-?[\d.]+) \| `(\w+)` \|/gm)].map(
    ([, line = '', logE, verdict]): [object, string, string] => [JSON.parse(line) as object, logE ?? '', verdict ?? ''],
  );

  it('has worked examples of every kind', () => {
    expect([...new Set(rows.map(([line]) => (line as { kind: string }).kind))].sort()).toEqual(['live', 'pairs', 'trial']);
  });

  it.each(rows)('the evidence of %j is %s, the verdict %s', (line, logE, verdict) => {
    const answer = evaluate(line);
    expect((answer.logE as number).toFixed(4)).toBe(logE);
    expect(answer.verdict).toBe(verdict);
  });
});
