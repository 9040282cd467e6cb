import type { Closing } from '#domain/evidence';

/** When a session closed or will close, and how long its outcome waits then. Times are microseconds since the epoch. */
export interface SessionClock {
  readonly nowUs: number;
  /** Of its newest turn; null without one. */
  readonly lastTurnUs: number | null;
  readonly exposureUs: number;
  /** It was ended, or its final turn came. */
  readonly endedUs: number | null;
  readonly idleS: number;
  readonly graceS: number;
}

const MICROS = 1_000_000;

/** Whether a session is closed, and when that may next change by time alone; null when it will not. */
export function closingOf(clock: SessionClock): { readonly closing: Closing; readonly checkUs: number | null } {
  const { nowUs, lastTurnUs, exposureUs, endedUs, idleS, graceS } = clock;
  const idleUs = Math.max(lastTurnUs ?? exposureUs, exposureUs) + idleS * MICROS;
  const closedUs = endedUs === null ? idleUs : Math.min(endedUs, idleUs);
  const overUs = closedUs + graceS * MICROS;
  if (nowUs >= overUs) return { closing: 'over', checkUs: null };
  return nowUs >= closedUs ? { closing: 'closing', checkUs: overUs } : { closing: 'open', checkUs: closedUs };
}
