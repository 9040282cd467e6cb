/** A job that is run again and again until it is stopped. */
export interface Repetition {
  /** No further run; resolves when the one in progress has ended. */
  stop(): Promise<void>;
}

const SECOND_MS = 1_000;

/**
 * Runs `job` every second, never twice at once. What it throws goes to `onError`: mostly a database that is away, which the
 * consumers say; the next run tries again.
 */
export function everySecond(job: () => Promise<void>, onError: (error: unknown) => void): Repetition {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= job()
      .catch(onError)
      .finally(() => {
        running = undefined;
      });
  }, SECOND_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}
