import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 25;

/**
 * Asks until there is an answer (neither undefined, null nor false), and gives it. What `ask` throws counts as no answer yet.
 * @throws Error with the last reason when `withinMs` are over
 */
export async function eventually<T>(ask: () => Promise<T> | T, withinMs = 5_000): Promise<Exclude<T, null | undefined | false>> {
  let reason: unknown = 'no answer';
  for (const until = Date.now() + withinMs; Date.now() < until;) {
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== null && answer !== false) return answer as Exclude<T, null | undefined | false>;
      reason = 'no answer';
    } catch (error) {
      reason = error;
    }
    await sleep(PAUSE_MS);
  }
  throw new Error(`not within ${withinMs} ms: ${reason instanceof Error ? reason.message : String(reason)}`);
}
