export { connectNats, type ConnectionSettings } from './connection.js';
export { JetStreamPublisher } from './publisher.js';
export { applyTopology, consumerConfig, differences, streamConfig } from './topology.js';
export { JetStreamStrategy, JETSTREAM, OnBatch, RethrowFilter, type StrategyOptions } from './strategy.js';
export { bySchema } from './decode.js';
