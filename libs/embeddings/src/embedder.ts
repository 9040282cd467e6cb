/** What an answer cost; the shape of libs/llm, so that one ledger takes both. */
export interface EmbeddingUsage {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; null when the model has no known price. */
  readonly costUsd: number | null;
  readonly latencyMs: number;
  readonly notes: readonly string[];
}

export interface Embeddings {
  /** One per text, in their order, all of one length. */
  readonly vectors: readonly (readonly number[])[];
  readonly usage: EmbeddingUsage;
}

/** Turns texts into vectors whose cosine tells how near their meanings are. */
export interface Embedder {
  readonly model: string;
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Embeddings>;
}
