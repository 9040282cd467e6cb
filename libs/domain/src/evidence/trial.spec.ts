import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { evaluateTrial } from './evaluate.js';
import { trialDefaults } from './decision.js';
import { liveBets } from './live-e-process.js';
import {
  beginTrial,
  evidenceOf,
  liveEffect,
  observe,
  replayEffect,
  winHarm,
  type Observation,
  type TrialState,
} from './trial.js';

const delta = fc.double({ min: -1, max: 1, noNaN: true });
const observation: fc.Arbitrary<Observation> = fc.oneof(
  fc.record({
    kind: fc.constant('session' as const),
    arm: fc.constantFrom('treatment' as const, 'control' as const),
    breached: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('pair' as const), delta }),
  fc.record({
    kind: fc.constant('win_pair' as const),
    caseId: fc.constantFrom('c-1', 'c-2', '__proto__'),
    deltas: fc.dictionary(fc.constantFrom('coherence', 'task_completion', 'toString'), delta),
  }),
);
const stream = fc.array(observation, { maxLength: 60 });
const fold = (observations: readonly Observation[], from: TrialState = beginTrial(0.5)) => observations.reduce(observe, from);
const bets = liveBets(0.5);

describe('a trial', () => {
  it('is the same whether it goes on from its stored state or from the beginning', () => {
    fc.assert(
      fc.property(stream, fc.nat(60), (observations, at) => {
        const stored = JSON.parse(JSON.stringify(fold(observations.slice(0, at)))) as TrialState;
        expect(fold(observations.slice(at), stored)).toEqual(fold(observations));
      }),
    );
  });

  it('does not depend on how its sources come to lie between each other', () => {
    fc.assert(
      fc.property(stream, (observations) => {
        const kinds = ['win_pair', 'pair', 'session'];
        const sorted = [...observations].sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind));
        const both = [sorted, observations].map((one) => ({ ...evidenceOf(fold(one), bets), wins: winHarm(fold(one)) }));
        expect(both[0]).toEqual(both[1]);
      }),
    );
  });

  it('leaves the state before an observation as it was', () => {
    fc.assert(
      fc.property(stream, observation, (observations, next) => {
        const before = fold(observations);
        const copy = structuredClone(before);
        observe(before, next);
        expect(before).toEqual(copy);
      }),
    );
  });

  it('multiplies its independent sources, and guards wins apart from them', () => {
    const session: Observation = { kind: 'session', arm: 'control', breached: true };
    const win: Observation = { kind: 'win_pair', caseId: 'c', deltas: { coherence: -0.4, task_completion: 0.1 } };
    const all = fold([session, { kind: 'pair', delta: 0.3 }, win]);
    const { live, replay, total } = evidenceOf(all, bets);
    expect(total.help).toBe(live.help + replay.help);
    const { coherence, task_completion: completion } = winHarm(all);
    expect(coherence).toBeGreaterThan(0);
    expect(completion).toBeLessThan(0);
  });

  it('counts no pair of a win without a shared score', () => {
    expect(fold([{ kind: 'win_pair', caseId: 'c', deltas: {} }])).toEqual(beginTrial(0.5));
  });

  it('has no effect while an arm is empty or no pair is counted', () => {
    expect(liveEffect(fold([{ kind: 'session', arm: 'control', breached: true }]).sessions)).toBeNull();
    expect(replayEffect(beginTrial(0.5).pairs)).toBeNull();
  });
});

describe('a trial evaluated anew', () => {
  const conditions = { allocation: 0.5, settings: trialDefaults };

  it('gives the evidence after each observation that the fold gives', () => {
    fc.assert(
      fc.property(stream, (observations) => {
        const { totals } = evaluateTrial(observations, conditions);
        expect(totals).toHaveLength(observations.length);
        if (observations.length > 0) expect(totals.at(-1)).toEqual(evidenceOf(fold(observations), bets).total);
      }),
    );
  });

  it('keeps its first verdict and the state in which it fell, whatever comes later', () => {
    fc.assert(
      fc.property(stream, stream, (observations, later) => {
        const first = evaluateTrial(observations, conditions);
        if (first.decidedAt === null) return;
        const { verdict, decidedAt, state } = evaluateTrial([...observations, ...later], conditions);
        expect({ verdict, decidedAt, state }).toEqual({ verdict: first.verdict, decidedAt: first.decidedAt, state: first.state });
      }),
    );
  });

  it('lets time end a trial only after its last observation', () => {
    const helped = Array.from({ length: 30 }, (_, at): Observation => {
      const arm = at % 2 === 0 ? 'treatment' : 'control';
      return { kind: 'session', arm, breached: arm === 'control' };
    });
    const old = { ...conditions, context: { ageDays: 31, chosenWins: [], winMetrics: 0 } };
    expect(evaluateTrial(helped, old).verdict).toMatchObject({ verdict: 'promote' });
    expect(evaluateTrial(helped.slice(0, 2), old)).toMatchObject({
      verdict: { verdict: 'retire', reason: 'unproven' },
      decidedAt: null,
    });
  });
});
