export { type Broker, type Credentials } from './connection.js';
export { type Responder, type ResponderOptions, type Verdict } from './responder.js';
export { verifier, type VerifierOptions } from './verifier.js';
export { metricResponder, type MetricResponderOptions } from './metric-responder.js';
export { type VerifyRequest, type MetricRequest } from '../../contracts/src/rpc.js';
