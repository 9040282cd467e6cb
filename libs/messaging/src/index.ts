export { TerminalError, InfrastructureError } from './errors.js';
export type {
  AttemptStore,
  Decoded,
  Delivery,
  OutgoingMessage,
  ProjectDirectory,
  PublishFailure,
  StreamPublisher,
} from './delivery.js';
export { retryDelay, settle, type Settlement } from './settlement.js';
export { cloudEventHeaders } from './cloud-events.js';
