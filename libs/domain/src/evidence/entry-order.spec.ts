import { describe, expect, it } from '@jest/globals';
import type { Arm } from './assignment.js';
import { decideTrial, trialDefaults } from './decision.js';
import { liveBets } from './live-e-process.js';
import { randomFrom } from './random.js';
import { beginTrial, observe } from './trial.js';

const bets = liveBets(0.5);
const SESSIONS = 120;
const RUNS = 300;
const LONG = 40;

interface Session {
  readonly arm: Arm;
  readonly breached: boolean;
  /** When its outcome is known; one session enters per unit of time. */
  readonly knownAt: number;
}

/** A rule that changes nothing but how long sessions last: clear ones end at once with it, and late without. Breaches come at any time. */
function sessionsOf(run: number): Session[] {
  const { uniform } = randomFrom(11, run);
  return Array.from({ length: SESSIONS }, (_, enteredAt): Session => {
    const arm = uniform() < 0.5 ? 'treatment' : 'control';
    const breached = uniform() < 0.5;
    const lasts = breached ? uniform() * LONG : arm === 'treatment' ? 0 : LONG;
    return { arm, breached, knownAt: enteredAt + lasts };
  });
}

function promotedShare(order: (sessions: readonly Session[]) => readonly Session[]): number {
  const promoted = Array.from({ length: RUNS }, (_, run) => {
    let state = beginTrial(0.5);
    return order(sessionsOf(run)).some(({ arm, breached }) => {
      state = observe(state, { kind: 'session', arm, breached });
      return decideTrial(state, bets, trialDefaults).verdict === 'promote';
    });
  });
  return promoted.filter(Boolean).length / RUNS;
}

describe('late outcomes', () => {
  it('promote nothing when they are counted in the order of entry, and much when they are counted as they become known', () => {
    expect(promotedShare((sessions) => sessions)).toBeLessThanOrEqual(0.05);
    expect(promotedShare((sessions) => [...sessions].sort((a, b) => a.knownAt - b.knownAt))).toBeGreaterThan(0.5);
  }, 60_000);
});
