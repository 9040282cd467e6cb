import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  decideTrial,
  estimateSessions,
  familywiseAlpha,
  noContext,
  trialDefaults,
  watchRule,
  type TrialVerdict,
} from './decision.js';
import { liveBets } from './live-e-process.js';
import { beginTrial, observe, type Observation, type TrialState } from './trial.js';

const bets = liveBets(0.5);
type Sessions = readonly [treated: number, treatedBreached: number, control: number, controlBreached: number];

/** A state by its counts: sessions per arm, differences of failure pairs, differences of `coherence` on the win `w`. */
function state(sessions: Sessions = [0, 0, 0, 0], deltas: readonly number[] = [], wins: readonly number[] = []): TrialState {
  const [treated, treatedBreached, control, controlBreached] = sessions;
  const counts = {
    treatment: { sessions: treated, breached: treatedBreached },
    control: { sessions: control, breached: controlBreached },
  };
  const observations: Observation[] = [
    ...deltas.map((delta): Observation => ({ kind: 'pair', delta })),
    ...wins.map((delta): Observation => ({ kind: 'win_pair', caseId: 'w', deltas: { coherence: delta } })),
  ];
  return observations.reduce(observe, { ...beginTrial(0.5), sessions: counts });
}

const times = (count: number, delta: number) => Array.from({ length: count }, () => delta);
const decide = (of: TrialState, context = {}, settings = {}): TrialVerdict =>
  decideTrial(of, bets, { ...trialDefaults, ...settings }, { ...noContext, ...context });

describe('the verdict of a trial', () => {
  it.each<[string, TrialState, Partial<TrialVerdict>, object?]>([
    ['is pending without observations', state(), { verdict: 'pending', reason: 'trial_in_progress' }],
    ['promotes on live evidence', state([50, 5, 50, 40]), { verdict: 'promote', source: 'live' }],
    ['promotes on pairs', state(undefined, times(6, 0.5)), { verdict: 'promote', source: 'replay' }],
    [
      'promotes on both together, neither of which is enough',
      state([15, 3, 15, 9], times(3, 0.5)),
      { verdict: 'promote', source: 'replay' },
    ],
    ['retires on live harm', state([50, 40, 50, 5]), { verdict: 'retire', reason: 'harmful' }],
    ['retires on harm in pairs', state(undefined, times(6, -0.5)), { verdict: 'retire', reason: 'harmful' }],
    [
      'retires on a win that falls, whatever else speaks for the rule',
      state([50, 5, 50, 40], [], times(6, -0.5)),
      { verdict: 'retire', reason: 'harmful' },
    ],
    [
      'gives each metric of the wins its share of the error',
      state(undefined, [], times(6, -0.5)),
      { verdict: 'pending' },
      { winMetrics: 20 },
    ],
    ['waits for an effect worth having', state(undefined, times(9, 0.04)), { verdict: 'pending', reason: 'effect_below_margin' }],
    ['waits while an arm is empty', state([20, 0, 0, 0], times(5, 0)), { verdict: 'pending' }],
    [
      'waits while the other source says the opposite',
      state([50, 5, 50, 40], [-0.2, -0.1]),
      { verdict: 'pending', reason: 'sources_disagree' },
    ],
    [
      'waits for a pair on each chosen win when replays are needed',
      state(undefined, times(6, 0.5)),
      { verdict: 'pending', reason: 'wins_not_replayed' },
      { chosenWins: ['w'] },
    ],
    [
      'has what it needs once the win was run',
      state(undefined, times(6, 0.5), [0]),
      { verdict: 'promote' },
      { chosenWins: ['w'] },
    ],
    [
      'needs no wins when live sessions alone are enough',
      state([50, 5, 50, 40], [0.5]),
      { verdict: 'promote' },
      { chosenWins: ['w'] },
    ],
    ['retires as unproven at the most sessions', state([500, 250, 500, 250]), { verdict: 'retire', reason: 'unproven' }],
    ['retires as unproven at the most days', state([5, 2, 5, 2]), { verdict: 'retire', reason: 'unproven' }, { ageDays: 30 }],
    ['promotes at the cap when the evidence is there', state([500, 100, 500, 250]), { verdict: 'promote' }],
  ])('%s', (_, of, expected, context = {}) => {
    expect(decide(of, context)).toMatchObject(expected);
  });

  it('needs more for a smaller alpha', () => {
    const of = state([15, 2, 15, 12]);
    expect(decide(of).verdict).toBe('promote');
    expect(decide(of, {}, { trial_alpha: 1e-6 }).verdict).toBe('pending');
  });

  it('never promotes a rule under which more sessions breach', () => {
    const count = fc.nat(300);
    fc.assert(
      fc.property(count, count, count, count, (a, b, c, d) => {
        const worse = c + d > 0 && a + b > 0 && b / (a + b) > d / (c + d);
        if (worse) expect(decide(state([a + b, b, c + d, d])).verdict).not.toBe('promote');
      }),
    );
  });
});

describe('the estimate of sessions that a trial still needs', () => {
  it.each<[number, number, number | null]>([
    [100, Math.log(20) / 2, 100],
    [100, Math.log(20), 0],
    [100, 5, 0],
    [100, 0, null],
    [100, -1, null],
    [0, 1, null],
    [100, 1e-320, null],
  ])('of %p sessions with ln E %p is %p', (counted, logE, needed) => {
    expect(estimateSessions(counted, logE, 0.05)).toBe(needed);
  });
});

describe('several candidates at once', () => {
  it('share alpha when asked to', () => {
    expect([familywiseAlpha(0.05, 5), familywiseAlpha(0.05, 1), familywiseAlpha(0.05, 0)]).toEqual([0.01, 0.05, 0.05]);
  });
});

describe('an active rule that is watched', () => {
  const settings = { trial_alpha: 0.05, trial_alpha_harm: 0.05, max_sessions: 100 };
  it.each<[Sessions, string]>([
    [[0, 0, 0, 0], 'watching'],
    [[50, 5, 40, 35], 'confirmed'],
    [[50, 40, 40, 5], 'harmful'],
    [[50, 20, 50, 20], 'stale'],
    [[50, 20, 49, 20], 'watching'],
  ])('with %j is %s', (sessions, expected) => {
    expect(watchRule(state(sessions), bets, settings)).toBe(expected);
  });
});
