/** `busy`: too much waits, try again later. `closed`: close() was called. `model-failed`: the model or its thread failed. */
export type EmbeddingErrorKind = 'busy' | 'closed' | 'model-failed';

/** Thrown by the local embedder. */
export class EmbeddingError extends Error {
  override readonly name = 'EmbeddingError';

  constructor(
    readonly kind: EmbeddingErrorKind,
    message: string,
  ) {
    super(message);
  }
}
