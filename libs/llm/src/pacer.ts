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

export interface Paced {
  readonly model: string;
  readonly patience: Patience;
  readonly signal: AbortSignal | undefined;
}

/** Keeps one endpoint's requests to so many at a time, and those of a model back after the endpoint has asked to wait with it. */
export class Pacer {
  private readonly limit: LimitFunction;
  /** By model, because makers limit each model by itself. */
  private readonly pausedUntil = new Map<string, number>();

  constructor(
    concurrency: number,
    private readonly clock: Clock,
  ) {
    this.limit = pLimit(concurrency);
  }

  pause(model: string, ms: number): void {
    for (const each of this.pausedUntil.keys()) if (this.pauseLeft(each) <= 0) this.pausedUntil.delete(each);
    const until = this.clock.now() + Math.min(ms, PAUSE_MAX_MS);
    this.pausedUntil.set(model, Math.max(this.pausedUntil.get(model) ?? 0, until));
  }

  /**
   * Runs `request` when a slot is free and no pause lasts. Who waits for the end of a pause holds no slot meanwhile.
   * @throws ModelError `rate_limit` when the pause outlasts the patience, `cancelled` when the signal fires first
   */
  async run<T>(request: () => Promise<T>, call: Paced): Promise<T> {
    for (;;) {
      await this.pauseOver(call);
      const turn = await this.slot(async () => {
        return this.pauseLeft(call.model) > 0 ? undefined : { done: await request() };
      }, call.signal);
      if (turn !== undefined) return turn.done;
    }
  }

  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    try {
      await this.clock.sleep(ms + this.clock.random() * JITTER_MS, signal);
    } catch (error) {
      throw signal?.aborted === true ? cancelled(signal) : error;
    }
  }

  private slot<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (signal?.aborted === true) return Promise.reject(cancelled(signal));
    return new Promise((resolve, reject) => {
      // Only while it waits for a slot: what runs hears the signal itself, and still counts what it spent.
      const abort = (): void => reject(cancelled(signal as AbortSignal));
      signal?.addEventListener('abort', abort, { once: true });
      const turn = this.limit(() => {
        signal?.removeEventListener('abort', abort);
        if (signal?.aborted === true) throw cancelled(signal);
        return work();
      });
      turn.then(resolve, reject);
    });
  }

  private async pauseOver({ model, patience, signal }: Paced): Promise<void> {
    for (let left = this.pauseLeft(model); left > 0; left = this.pauseLeft(model)) {
      if (!patience.spend(left)) {
        throw new ModelError('rate_limit', explain('rate_limit', `in ${Math.ceil(left / 1000)} s`), { retryAfterMs: left });
      }
      await this.wait(left, signal);
    }
  }

  private pauseLeft(model: string): number {
    return (this.pausedUntil.get(model) ?? 0) - this.clock.now();
  }
}

export function cancelled(signal: AbortSignal): ModelError {
  return new ModelError('cancelled', explain('cancelled', "by the caller's signal"), { cause: signal.reason });
}
