export { cosine } from '#domain/checks';
export { type Embedder, type EmbeddingUsage, type Embeddings } from './embedder.js';
export { EmbeddingError, type EmbeddingErrorKind } from './errors.js';
export { localEmbedder, LOCAL_MODEL, LOCAL_TEXT_CHARACTERS, type LocalEmbedder } from './local.js';
