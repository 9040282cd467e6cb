import { setTimeout as sleep } from 'node:timers/promises';

/** Whoever probes or scrapes gives up after a few seconds; a server that hangs must not keep them waiting. */
const PATIENCE_MS = 2_500;

/** What `attempt` gives. @throws its error, or one that says that it took too long */
export async function inTime<T>(attempt: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = sleep(PATIENCE_MS, undefined, { ref: false, signal: timer.signal }).then(() => {
    throw new Error(`no answer within ${PATIENCE_MS} ms`);
  });
  try {
    return await Promise.race([attempt, late]);
  } finally {
    // Its own end is nobody's concern any more.
    late.catch(() => undefined);
    timer.abort();
  }
}

/** Why it failed, or that it took too long; undefined when it succeeded. */
export async function failureOf(attempt: Promise<unknown>): Promise<string | undefined> {
  try {
    await inTime(attempt);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
