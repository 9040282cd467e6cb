export { acquireDataDir, type DataDir } from './data-dir/data-dir.js';
export { EmbeddedError, type EmbeddedErrorKind } from './errors.js';
export { type NatsOptions, type RunningNats, startNats } from './nats/start-nats.js';
export { type PostgresOptions, type RunningPostgres, startPostgres } from './postgres/start-postgres.js';
export { type Embedded, type EmbeddedOptions, startEmbedded } from './start-embedded.js';
