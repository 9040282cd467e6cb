export { defineEvent, projectOfSubject, SUBJECT_ROOT, type EventContract, type PayloadOf } from './event.js';
export { streams, LIVE_PREFIX, type StreamContract, type StreamName } from './streams.js';
export {
  builtInMetrics,
  evaluatorKinds,
  metricNames,
  tiers,
  conditions,
  OUTCOME_METRIC,
  type EvaluatorKind,
  type MetricName,
  type Tier,
  type Condition,
  type Signature,
} from './metrics.js';
export {
  turnEndedInput,
  bodyReference,
  spanKinds,
  turnStatuses,
  type Span,
  type Trace,
  type Turn,
  type Tool,
  type ScopeHint,
} from './turn.js';
export { turnEnded, sessionEnded, scorePosted } from './turn.events.js';
export { receivedSpan, spansReceived, spansReference, type ReceivedSpan, type SpansReceived } from './span.events.js';
export {
  traceScored,
  tierRequested,
  type Score,
  type TraceSignal,
  type TraceScored,
  type TierRequested,
} from './scoring.events.js';
export { turnEvaluated, severities, type Severity, type Report, type ReportScore } from './gating.events.js';
export {
  noticePosted,
  noticeResolved,
  sessionRecovered,
  breakerOpened,
  breakerClosed,
  episodeOpened,
  noticeStatuses,
  type Notice,
  type NoticeStatus,
} from './mailbox.events.js';
export {
  episodeSettled,
  repairResult,
  REPAIR_TRACE_SCOPE,
  repairStatuses,
  resolvingStatuses,
  type RepairResult,
  type RepairStatus,
  type ResolvingStatus,
} from './repair.events.js';
export {
  replayFinished,
  replayRequested,
  replayScored,
  replayStarted,
  replayTurn,
  toolTape,
  type ReplayRequested,
  type TapeCall,
  type ToolTape,
} from './replay.events.js';
export { REPLAY_STREAM, replayDurable, replaySubject } from './replay-queue.js';
export {
  ruleCandidate,
  ruleChanged,
  ruleExposed,
  rulePromoted,
  ruleRestored,
  ruleRetired,
  ruleWithdrawn,
  type RuleExposed,
} from './rule.events.js';
export { RULES_SEARCH_MAX, ruleTools, type RuleTool, type RuleToolInput, type RuleToolOutput } from './rule-tools.js';
export {
  candidatesQuery,
  editRuleRequest,
  manyRulesChanged,
  manyRulesRequest,
  retireRuleRequest,
  ruleRecord,
  ruleRecordsQuery,
  withdrawRuleRequest,
  type ManyRulesChanged,
  type RuleEdit,
  type RuleRecord,
} from './http-rules.js';
export { EVERY_SCOPE, reviewModes, type ReviewMode } from './settings-rules.js';
export { healthChanged, deadLetter, deadLetterHeaders, SYSTEM_PROJECT } from './system.events.js';
export {
  events,
  consumers,
  requiredConsumers,
  serviceNames,
  subjectsOfStream,
  type ConsumerContract,
  type ServiceName,
} from './catalogue.js';
export {
  projectSettings,
  processSettings,
  projectName,
  PROJECT_PATTERN,
  DEFAULT_PROJECT,
  keyScopes,
  type KeyScope,
  type ProjectSettings,
  type ProjectSettingsPatch,
  type ProcessSettings,
} from './settings.js';
export { judgePlaceholders, type OwnMetric } from './settings-scoring.js';
export {
  problem,
  fieldProblem,
  turnResult,
  turnsResponse,
  page,
  pageQuery,
  sessionIdText,
  sessionEndRequest,
  sessionEndResponse,
  readiness,
  type Problem,
  type TurnResult,
  type TurnsResponse,
  type Readiness,
} from './http.js';
export {
  sessionSummary,
  sessionsQuery,
  sessionTrajectory,
  trajectoryQuery,
  noticesQuery,
  episode,
  episodeDetail,
  episodesQuery,
  incident,
  incidentsQuery,
  journalEvent,
  journalQuery,
  type SessionSummary,
  type SessionTrajectory,
  type SessionWarning,
  type TrajectoryTurn,
  type Episode,
  type EpisodeDetail,
  type Incident,
  type JournalEvent,
} from './http-loop.js';
export {
  receivedTrace,
  receivedTraceSpans,
  receivedTraceSpansQuery,
  receivedTracesQuery,
  traceIdText,
  traceStates,
  type ReceivedTrace,
  type ReceivedTraceSpan,
  type ReceivedTraceSpans,
} from './http-traces.js';
export { storedScores, storedScoresQuery, type StoredScores } from './http-calibration.js';
export {
  costs,
  costDimensions,
  costDimensionsOf,
  costsQuery,
  MAX_COST_DAYS,
  MAX_COST_GROUPS,
  type CostDimension,
  type CostGroup,
  type Costs,
  type CostSums,
  type Ladder,
  type LadderMetric,
} from './http-costs.js';
export {
  attachInputRequest,
  captureCaseRequest,
  capturedCase,
  caseKinds,
  evalCaseDetail,
  evalCaseLine,
  evalCasesPage,
  evalCasesQuery,
  importedCases,
  MAX_IMPORT_LINES,
  removedCase,
  type AttachInputRequest,
  type CaptureCaseRequest,
  type CapturedCase,
  type EvalCaseDetail,
  type EvalCaseLine,
  type EvalCasesPage,
  type EvalCaseSummary,
  type ImportedCases,
  type RemovedCase,
} from './http-evalset.js';
export { knownMetrics, type KnownMetric, type KnownMetrics } from './http-metrics.js';
export {
  effectiveSettings,
  settingsPatch,
  project,
  createProjectRequest,
  createdProject,
  apiKey,
  createKeyRequest,
  createdKey,
  type EffectiveSettings,
  type SettingOrigin,
  type Project,
  type CreatedProject,
  type ApiKey,
  type CreatedKey,
} from './http-operate.js';
export {
  pendingSession,
  pendingSessionsQuery,
  settleAnswer,
  settleBody,
  settleRequest,
  waitsFor,
  type PendingSession,
  type SettleAnswer,
  type SettleRequest,
  type WaitsFor,
} from './http-settle.js';
export { rpcSubject, type RpcName } from './rpc-subject.js';
export { verifyRequest, verifyAnswer, metricRequest, metricAnswer, type VerifyRequest, type MetricRequest } from './rpc.js';
export { type RpcAnswer } from './rpc-answer.js';
export {
  pendingTrial,
  regressionReport,
  regressionRun,
  regressionsQuery,
  ruleReader,
  ruleWatch,
  startRegression,
  trialView,
  watchesQuery,
  type PendingTrial,
  type RegressionCase,
  type RegressionReport,
  type RegressionRun,
  type RuleReaderSession,
  type RuleWatch,
  type TrialPoint,
  type TrialView,
} from './http-validation.js';
