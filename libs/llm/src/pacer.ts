import pLimit, { type LimitFunction } from 'p-limit';
import type { Clock } from './clock.js';
import { explain, ModelError } from './model-error.js';

/** Callers that waited for the same moment must not all come at once. */
const JITTER_MS = 500;
/** However long the hint, a few minutes later the endpoint is asked again whether it still holds. */
const PAUSE_MAX_MS = 5 * 60 * 1000;

/** How long one call may still wait. */
export class Patience {
  constructor(private leftMs: number) {}

  covers(ms: number): boolean {
    return ms <= this.leftMs;
  }

  /** False when it is at an end. */
  spend(ms: number): boolean {
    this.leftMs -= ms;
    return this.leftMs >= 0;
  }
}

/** Keeps one endpoint's requests to so many at a time, and all of them back after it has asked to wait. */
export class Pacer {
  private readonly limit: LimitFunction;
  private pausedUntil = 0;

  constructor(
    concurrency: number,
    private readonly clock: Clock,
  ) {
    this.limit = pLimit(concurrency);
  }

  pause(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, this.clock.now() + Math.min(ms, PAUSE_MAX_MS));
  }

  /**
   * Runs `request` when a slot is free and no pause lasts.
   * @throws ModelError `rate_limit` when the pause outlasts the patience, `cancelled` when the signal fires first
   */
  run<T>(request: () => Promise<T>, patience: Patience, signal?: AbortSignal): Promise<T> {
    if (signal?.aborted === true) return Promise.reject(cancelled(signal));
    return new Promise((resolve, reject) => {
      // Only while it waits for a slot: what runs hears the signal itself, and still counts what it spent.
      const abort = (): void => reject(cancelled(signal as AbortSignal));
      signal?.addEventListener('abort', abort, { once: true });
      const turn = this.limit(async () => {
        signal?.removeEventListener('abort', abort);
        if (signal?.aborted === true) throw cancelled(signal);
        await this.pauseOver(patience, signal);
        return request();
      });
      turn.then(resolve, reject);
    });
  }

  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    try {
      await this.clock.sleep(ms + this.clock.random() * JITTER_MS, signal);
    } catch (error) {
      throw signal?.aborted === true ? cancelled(signal) : error;
    }
  }

  private async pauseOver(patience: Patience, signal?: AbortSignal): Promise<void> {
    for (let left = this.pauseLeft(); left > 0; left = this.pauseLeft()) {
      if (!patience.spend(left)) {
        throw new ModelError('rate_limit', explain('rate_limit', `in ${Math.ceil(left / 1000)} s`), { retryAfterMs: left });
      }
      await this.wait(left, signal);
    }
  }

  private pauseLeft(): number {
    return this.pausedUntil - this.clock.now();
  }
}

export function cancelled(signal: AbortSignal): ModelError {
  return new ModelError('cancelled', explain('cancelled', "by the caller's signal"), { cause: signal.reason });
}
