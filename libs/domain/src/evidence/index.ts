export { advanceTrial, advanceWatch, type Advance, type WatchAdvance } from './advance.js';
export { armOf, assignmentDraw, type Arm, type Assignment } from './assignment.js';
export { effectSequence, hasSampleRatioMismatch, rateSequence, type Interval } from './confidence-sequence.js';
export {
  decideTrial,
  estimateSessions,
  familywiseAlpha,
  noContext,
  trialDefaults,
  watchRule,
  type PendingReason,
  type Source,
  type TrialContext,
  type TrialSettings,
  type TrialVerdict,
  type WatchSettings,
  type WatchVerdict,
} from './decision.js';
export { evaluateTrial, summarise, type EvaluatedTrial, type TrialConditions, type TrialSummary } from './evaluate.js';
export { liveBets, type ArmCounts, type LiveBets, type LiveCounts, type LogEvidence } from './live-e-process.js';
export { type PairSums } from './paired-e-process.js';
export { simulate, type LiveScenario, type PairsScenario, type Scenario, type SimulatedShares } from './simulate.js';
export {
  beginTrial,
  countedSessions,
  evidenceOf,
  liveEffect,
  observe,
  replayEffect,
  winHarm,
  type Observation,
  type TrialEvidence,
  type TrialState,
} from './trial.js';
export {
  answerArmLine,
  answerLiveLine,
  answerPairsLine,
  traceEvidence,
  withinTolerance,
  type ArmLine,
  type EvidenceAnswer,
  type LiveLine,
  type PairsLine,
} from './golden.js';
export {
  baselineOf,
  baselineRate,
  forwardVerdict,
  noTrial,
  observeReport,
  trialRate,
  type Baseline,
  type ForwardCounts,
  type ForwardSettings,
  type ForwardTrial,
  type ForwardVerdict,
  type JournaledEvent,
  type SessionReport,
} from './threshold/forward-trial.js';
export { hasImproved, hasRegressed, regressionStatus, type Margins, type RegressionStatus } from './threshold/margins.js';
export {
  caseOutcome,
  chooseCases,
  replayVerdict,
  targetMetrics,
  type CaseOutcome,
  type ReplayableCase,
  type ReplayedCase,
  type ReplayVerdict,
  type Run,
} from './threshold/replay-verdict.js';
export { decideRound, MAX_REPLAY_ATTEMPTS, mayReplay, type Round, type ThresholdVerdict } from './threshold/round.js';
export { answeredMetrics, inFamily, targetSignatures, type RuleTarget } from './threshold/signatures.js';
export {
  answerBaselineLine,
  answerEngineLine,
  answerForwardLine,
  answerObserveLine,
  answerRegressionLine,
  answerReplayLine,
  chosenCases,
  type BaselineLine,
  type EngineLine,
  type ForwardLine,
  type ObserveLine,
  type RegressionLine,
  type ReplayLine,
} from './threshold/golden.js';
export { outcomeOf, type Closing, type Outcome, type WatchedTurn } from './outcome.js';
export { caseOfPair, judgePair, type CaseKind, type ChosenCases, type PairEnd, type RunEnd } from './replay-pairs.js';
