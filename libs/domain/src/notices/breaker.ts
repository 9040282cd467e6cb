/** Per project: when notices were counted (seconds, oldest first), and whether it is open. */
export interface Breaker {
  readonly counted: readonly number[];
  readonly open: boolean;
}

export const closedBreaker: Breaker = { counted: [], open: false };

export interface BreakerSettings {
  readonly circuit_breaker_max_notices: number;
  readonly circuit_breaker_window_s: number;
}

export type Passage = 'post' | 'needs_human' | 'suppress';

/** Drops times that are strictly older than the window, and closes a breaker whose window is empty. */
export function settleBreaker(breaker: Breaker, now: number, settings: BreakerSettings): Breaker {
  const counted = breaker.counted.filter((time) => now - time <= settings.circuit_breaker_window_s);
  return { counted, open: breaker.open && counted.length > 0 };
}

/** A notice wants out. The first one over the maximum becomes the single `needs_human`; it is not counted itself. */
export function passBreaker(before: Breaker, now: number, settings: BreakerSettings): { breaker: Breaker; passage: Passage } {
  if (settings.circuit_breaker_max_notices <= 0) return { breaker: before, passage: 'post' };
  const breaker = settleBreaker(before, now, settings);
  if (breaker.open) return { breaker, passage: 'suppress' };
  if (breaker.counted.length >= settings.circuit_breaker_max_notices)
    return { breaker: { ...breaker, open: true }, passage: 'needs_human' };
  return { breaker: { counted: [...breaker.counted, now], open: false }, passage: 'post' };
}
