import { describe, expect, it } from '@jest/globals';
import type { ForwardVerdict } from './forward-trial.js';
import type { ReplayVerdict } from './replay-verdict.js';
import { decideRound, mayReplay } from './round.js';

const forward = (outcome: ForwardVerdict['outcome']): ForwardVerdict => ({
  ...{ validator: 'forward_trial', outcome, reason: '' },
  pending_reason: outcome === 'pending' ? 'trial_in_progress' : null,
});
const replay = (outcome: ReplayVerdict['outcome']): ReplayVerdict => ({
  ...{ validator: 'replay', outcome, reason: '', case_outcomes: [], inconclusive: 0, unexercised: 0 },
  pending_reason: outcome === 'pending' ? 'candidate_not_exercised' : null,
});

describe('a round of method threshold', () => {
  it.each<[string, ReplayVerdict | 'budget_spent' | null, ForwardVerdict['outcome'], object]>([
    ['lets replay decide before the forward trial', replay('retire'), 'promote', { verdict: replay('retire'), attempts: 1 }],
    [
      'asks the forward trial when replay cannot decide',
      replay('pending'),
      'retire',
      { verdict: forward('retire'), attempts: 2 },
    ],
    ['says why replay could not when neither can', replay('pending'), 'pending', { verdict: replay('pending'), attempts: 2 }],
    ['leaves it to the forward trial without a replay', null, 'pending', { verdict: forward('pending'), attempts: 1 }],
    ['asks the forward trial when its time is spent', 'budget_spent', 'promote', { verdict: forward('promote'), attempts: 1 }],
    [
      'says that its time is spent when the forward trial cannot decide',
      'budget_spent',
      'pending',
      { verdict: { pending_reason: 'round_budget_exhausted' }, attempts: 1 },
    ],
  ])('%s', (_, replayed, live, expected) => {
    expect(decideRound({ replay: replayed, forward: forward(live), attempts: 1 })).toMatchObject(expected);
  });

  it('tries replays three times', () => {
    expect([0, 1, 2, 3, 4].map(mayReplay)).toEqual([true, true, true, false, false]);
  });
});
