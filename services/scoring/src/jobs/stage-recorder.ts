import { inMemoryStages, type StageMemory } from '#judges';
import type { StageResult } from '../postgres/job-results.js';

/** Shared stages of a job's traces: known ones are not asked for again, new ones are kept to be stored. */
export class StageRecorder {
  readonly made: StageResult[] = [];
  private readonly memories = new Map<string, StageMemory>();

  constructor(private readonly known: ReadonlyMap<string, ReadonlyMap<string, unknown>>) {}

  of(trace: string): StageMemory {
    let memory = this.memories.get(trace);
    if (memory === undefined) {
      memory = this.memoryOf(trace);
      this.memories.set(trace, memory);
    }
    return memory;
  }

  private memoryOf(trace: string): StageMemory {
    const running = inMemoryStages();
    const known = this.known.get(trace);
    return {
      once: <T>(stage: string, make: () => Promise<T>): Promise<T> => {
        // Whoever asks under the same name, which holds the hash of its prompt, made the same thing.
        if (known?.has(stage) === true) return Promise.resolve(known.get(stage) as T);
        return running.once(stage, async () => {
          const result = await make();
          this.made.push({ trace, stage, result });
          return result;
        });
      },
    };
  }
}
