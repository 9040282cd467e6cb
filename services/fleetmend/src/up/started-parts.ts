import { say } from '../output/write.js';
import type { Stopping } from './stopping.js';

interface Part {
  readonly name: string;
  stop(): Promise<void>;
}

/** What was started, in layers: stopped in the opposite order, those of one layer together. */
export class StartedParts {
  private readonly layers: Part[][] = [];

  constructor(private readonly stopping: Stopping) {}

  /** Begins a new layer: what is started from now on is stopped before everything so far. */
  layer(): void {
    this.layers.push([]);
  }

  /** Waits for a part to start. One that is still starting when the end is asked for is stopped as soon as it has started. */
  async start<T>(name: string, work: Promise<T>, stop: (started: T) => Promise<void>): Promise<T> {
    const part: Part = {
      name,
      stop: async () => {
        const [result] = await Promise.allSettled([work]);
        if (result.status === 'fulfilled') await stop(result.value);
      },
    };
    if (this.layers.length === 0) this.layer();
    this.layers.at(-1)?.push(part);
    return this.stopping.race(work);
  }

  /** Stops everything, also when something cannot be stopped, which is said. */
  async stopAll(): Promise<void> {
    for (const layer of this.layers.splice(0).reverse()) {
      const results = await Promise.allSettled(layer.map((part) => part.stop()));
      results.forEach((result, at) => {
        if (result.status === 'fulfilled') return;
        const reason: unknown = result.reason;
        say(`${layer[at]?.name ?? 'a part'} did not stop well: ${reason instanceof Error ? reason.message : String(reason)}`);
      });
    }
  }
}
