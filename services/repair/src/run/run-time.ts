import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

export type StopReason = 'timed_out' | 'cancelled' | 'lease_lost';

/** The run has to end, wherever it is. */
export class RunStopped extends Error {
  override readonly name = 'RunStopped';

  constructor(readonly reason: StopReason) {
    super(reason);
  }
}

/** The time that one run has. It can be stopped from outside, and nothing it waits for outlasts it. */
export class RunTime {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly until: number;
  private why: StopReason | null = null;

  constructor(timeoutMs: number) {
    this.until = performance.now() + timeoutMs;
    this.timer = setTimeout(() => this.stop('timed_out'), timeoutMs);
    setMaxListeners(0, this.controller.signal);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get stopped(): StopReason | null {
    return this.why;
  }

  /** Milliseconds, 1 at least: 0 would be no limit at all for who is told it. */
  get leftMs(): number {
    return Math.max(1, Math.round(this.until - performance.now()));
  }

  /** The first reason counts. */
  stop(reason: StopReason): void {
    this.why ??= reason;
    this.controller.abort();
  }

  /**
   * Waits for `work`, but not beyond the end. What is left behind goes on by itself, and its failure is nobody's.
   * @param graceMs how much longer work that hears the signal may take to come to its own end
   * @throws RunStopped
   */
  async race<T>(work: Promise<T>, graceMs = 0): Promise<T> {
    work.catch(() => undefined);
    const settled = new AbortController();
    const end = this.ended(graceMs, settled.signal);
    try {
      return await Promise.race([work, end]);
    } finally {
      settled.abort();
    }
  }

  end(): void {
    clearTimeout(this.timer);
  }

  private async ended(graceMs: number, settled: AbortSignal): Promise<never> {
    await new Promise<void>((resolve) => {
      if (this.signal.aborted || settled.aborted) {
        resolve();
        return;
      }
      this.signal.addEventListener('abort', () => resolve(), { once: true, signal: settled });
      settled.addEventListener('abort', () => resolve(), { once: true });
    });
    if (graceMs > 0) await sleep(graceMs, undefined, { signal: settled }).catch(() => undefined);
    if (settled.aborted) return new Promise<never>(() => undefined);
    throw new RunStopped(this.why ?? 'cancelled');
  }
}
