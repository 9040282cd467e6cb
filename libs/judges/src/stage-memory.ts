import type { StageMemory } from './task.js';

/** Shared stages of one trace revision in memory. Concurrent callers share one computation; a failure is shared and forgotten. */
export function inMemoryStages(): StageMemory {
  const stages = new Map<string, Promise<unknown>>();
  return {
    once<T>(stage: string, make: () => Promise<T>): Promise<T> {
      const known = stages.get(stage);
      // The stage's name and prompt hash stand for its type: whoever asks under the same name made the same thing.
      if (known !== undefined) return known as Promise<T>;
      const made = make();
      stages.set(stage, made);
      made.catch(() => stages.delete(stage));
      return made;
    },
  };
}
