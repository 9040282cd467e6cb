export { foldValue, type GateSettings, type GateState, type GateVerdict } from './gate.js';
export { canFire, gateConfig, gateSettings, metricsOfTier, thresholdOf, type GateConfig } from './config.js';
export {
  foldTurn,
  signatureOf,
  standingSignatures,
  untouched,
  type Evidence,
  type FiredCondition,
  type Standing,
  type TierAnswer,
  type Trajectory,
  type TurnVerdict,
} from './trajectory.js';
export { gateDefaults, replayGate, type GateAnswer, type GateLine } from './golden.js';
