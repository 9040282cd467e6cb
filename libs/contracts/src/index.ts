export { defineEvent, projectOfSubject, SUBJECT_ROOT, type EventContract, type PayloadOf } from './event.js';
export { streams, LIVE_PREFIX, type StreamContract, type StreamName } from './streams.js';
export { metricNames, tiers, conditions, OUTCOME_METRIC, type MetricName, type Tier, type Condition, type Signature } from './metrics.js';
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
export { traceScored, tierRequested, type Score, type TraceSignal, type TraceScored, type TierRequested } from './scoring.events.js';
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
export { healthChanged, deadLetter, deadLetterHeaders, SYSTEM_PROJECT } from './system.events.js';
export { events, consumers, serviceNames, subjectsOfStream, type ConsumerContract, type ServiceName } from './catalogue.js';
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
export { problem, turnResult, turnsResponse, page, type Problem, type TurnResult, type TurnsResponse } from './http.js';
