export { cosine } from '#domain/checks';
export { type Embedder, type EmbeddingUsage, type Embeddings } from './embedder.js';
