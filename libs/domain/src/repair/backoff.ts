/** The first wait; each further failure waits four times as long, so that five of them reach over an outage of an hour. */
const FIRST_S = 60;
const FACTOR = 4;
/** Also for what a provider asks for: it may be a mistake, and the sessions go on failing meanwhile. */
const LONGEST_S = 3_600;

/**
 * Seconds until an episode is tried again.
 * @param failures of the episode so far, this one included
 * @param retryAfterS what the provider asked for
 */
export function backoffS(failures: number, retryAfterS: number | null): number {
  const own = FIRST_S * FACTOR ** Math.min(Math.max(failures, 1) - 1, 10);
  return Math.min(LONGEST_S, Math.max(own, retryAfterS ?? 0));
}

/** Whether an episode waits for an operator from now on. */
export function isGivenUp(failures: number, attempts: number): boolean {
  return failures >= attempts;
}
