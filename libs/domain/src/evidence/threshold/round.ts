import type { ForwardVerdict } from './forward-trial.js';
import type { ReplayVerdict } from './replay-verdict.js';

export type ThresholdVerdict =
  | ForwardVerdict
  | ReplayVerdict
  | {
      readonly validator: 'replay';
      readonly outcome: 'pending';
      readonly pending_reason: 'round_budget_exhausted';
      readonly reason: string;
    };

/** After this many rounds in which replay could not decide, replay is not tried again. */
export const MAX_REPLAY_ATTEMPTS = 3;

export function mayReplay(attempts: number): boolean {
  return attempts < MAX_REPLAY_ATTEMPTS;
}

/** What a round has of one candidate. `replay`: null when none was tried; `budget_spent` when the round had no time left for it. */
export interface Round {
  readonly replay: ReplayVerdict | 'budget_spent' | null;
  readonly forward: ForwardVerdict;
  readonly attempts: number;
}

/**
 * Replay decides before the forward trial. Where it cannot, the forward trial is asked in the same round; where that cannot either,
 * the verdict says why replay could not. An undecided replay is an attempt, a spent budget is none.
 */
export function decideRound({ replay, forward, attempts }: Round): { verdict: ThresholdVerdict; attempts: number } {
  if (replay === null) return { verdict: forward, attempts };
  if (replay === 'budget_spent') {
    const reason = 'the round had no time left for a replay';
    const spent = { validator: 'replay', outcome: 'pending', pending_reason: 'round_budget_exhausted', reason } as const;
    return { verdict: forward.outcome === 'pending' ? spent : forward, attempts };
  }
  if (replay.outcome !== 'pending') return { verdict: replay, attempts };
  return { verdict: forward.outcome === 'pending' ? replay : forward, attempts: attempts + 1 };
}
