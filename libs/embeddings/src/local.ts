import pLimit from 'p-limit';
import type { Embedder, Embeddings } from './embedder.js';
import { EmbeddingError } from './errors.js';
import { ModelThread } from './model-thread.js';

/** The name of the local model in settings: `embedding_model = "local"`. */
export const LOCAL_MODEL = 'local';

/**
 * UTF-16 units of a text that are read. The model itself looks at 128 tokens, about 600 characters of English: measured, nothing
 * after them changes a vector. The tokenizer reads all it is given, and its time grows with the square of the length
 * (docs/coherence.md).
 */
export const LOCAL_TEXT_CHARACTERS = 1_000;

/** Texts that may wait. At about 75 ms each this is 20 s of work: more would only be waited for in vain. */
const WAITING_MAX = 256;

export interface LocalEmbedder extends Embedder {
  /** Ends the thread, and with it what still waits (EmbeddingError 'closed'). May be called again. */
  close(): Promise<void>;
}

/**
 * Universal Sentence Encoder Lite (English, 512 numbers a vector, length 1) in a thread of its own: it needs no network and costs
 * nothing, but a core for about 75 ms a text. The model is loaded on first use. One batch is worked on at a time; an aborted
 * one rejects at once and stops after its current text. Its usage counts no tokens, since nobody bills them.
 * `embed` throws EmbeddingError, RangeError for an empty text, and the signal's reason.
 */
export function localEmbedder(): LocalEmbedder {
  const thread = new ModelThread();
  const oneAtATime = pLimit(1);
  let waiting = 0;

  const vectorsOf = async (texts: readonly string[], signal?: AbortSignal): Promise<Embeddings> => {
    const started = performance.now();
    const vectors: (readonly number[])[] = [];
    for (const text of texts) {
      signal?.throwIfAborted();
      vectors.push(await thread.vectorOf(text.slice(0, LOCAL_TEXT_CHARACTERS)));
    }
    const latencyMs = performance.now() - started;
    return { vectors, usage: { calls: 1, inputTokens: 0, outputTokens: 0, costUsd: 0, latencyMs, notes: [] } };
  };

  return {
    model: LOCAL_MODEL,
    embed: async (texts, signal) => {
      if (texts.includes('')) throw new RangeError('an empty text has no vector');
      signal?.throwIfAborted();
      if (waiting + texts.length > WAITING_MAX)
        throw new EmbeddingError('busy', `the local embedding model has ${waiting} texts waiting; try again later`);
      waiting += texts.length;
      const work = oneAtATime(() => vectorsOf(texts, signal)).finally(() => (waiting -= texts.length));
      return signal === undefined ? work : orAborted(work, signal);
    },
    close: () => thread.end(),
  };
}

/** Rejects as soon as the signal says so; what the work says then no longer matters. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
