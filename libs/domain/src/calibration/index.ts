export {
  calibrate,
  histogramOf,
  recommendThreshold,
  SWEEP_THRESHOLDS,
  type CalibrationInput,
  type CalibrationReport,
  type LabelledMetric,
  type Labels,
  type MetricCalibration,
  type SweepPoint,
} from './report.js';
export { confusionOf, ratiosOf, type Confusion, type Ratios } from './confusion.js';
export { labelsFromOutcomes, lowestScores, trackName, type StoredSession, type StoredTrack } from './series.js';
export { replaySessions, type GateOutcome, type GatePlan } from './gate-replay.js';
export {
  calibrateGate,
  combinations,
  defaultGrid,
  recommend,
  type GateCalibration,
  type GateGrid,
  type GateGridInput,
  type GateRecommendation,
  type GateTrial,
  type TrackCalibration,
} from './gate-grid.js';
export { DROP_MULTIPLE, judgeNoise, type JudgeNoise, type RepeatedScore } from './noise.js';
export { answerCalibrateLine, withinTolerance, type CalibrateLine } from './golden.js';
