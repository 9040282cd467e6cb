/** A turn that was accepted at or after a session's exposure, and was not skipped. Times are microseconds since the epoch. */
export interface WatchedTurn {
  readonly t: number;
  readonly acceptedUs: number;
  /** Its report has been published. */
  readonly reported: boolean;
  /** A published revision of its report fired a signature of the rule's family. */
  readonly breached: boolean;
}

/** Whether a session will have further turns: it may, it was closed just now, or it was closed long ago. */
export type Closing = 'open' | 'closing' | 'over';

/** 1: breached. 0: went through the window, or closed, without a breach. Null: not known yet. */
export type Outcome = 0 | 1 | null;

/**
 * The outcome of a session for the trial of a rule that it came to (EVIDENCE, "Outcome"): what its first `window` turns after the
 * exposure show. Acceptance orders them, so that a turn never leaves the window again.
 */
export function outcomeOf(turns: readonly WatchedTurn[], window: number, closing: Closing): Outcome {
  const watched = [...turns].sort((a, b) => a.acceptedUs - b.acceptedUs || a.t - b.t).slice(0, window);
  if (watched.some(({ breached }) => breached)) return 1;
  if (closing === 'over') return 0;
  const quiet = watched.every(({ reported }) => reported);
  return quiet && (watched.length === window || closing === 'closing') ? 0 : null;
}
