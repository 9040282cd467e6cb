export { type Broker, type Credentials } from './connection.js';
export { type Responder, type ResponderOptions, type Verdict } from './responder.js';
export { verifier, type VerifierOptions } from './verifier.js';
export { metricResponder, type MetricResponderOptions } from './metric-responder.js';
export { preamble } from './preamble.js';
export { replayWorker, type ReplayWorker, type ReplayWorkerOptions } from './replay/replay-worker.js';
export { type ReplayContext, type ReplayFunction, type ReplayTurn } from './replay/context.js';
export { RecordedToolError, TapeMissError, type OnMiss, type TapeMode, type TapeOptions } from './tape/tape-player.js';
export { type VerifyRequest, type MetricRequest } from '../../contracts/src/rpc.js';
