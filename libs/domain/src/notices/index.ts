export { foldAlert, type AlertMemory, type AlertVerdict } from './dedup.js';
export { closedBreaker, passBreaker, settleBreaker, type Breaker, type BreakerSettings, type Passage } from './breaker.js';
export { noticeSeverity, replayNotices, type DedupLine, type DedupOutcome } from './golden.js';
export {
  compareNotices,
  foldAlerts,
  type AlertStep,
  type AlertTurn,
  type KnownNotice,
  type NoticeChanges,
} from './session-alerts.js';
export { ProjectGate, type Placement, type PlacementSettings, type Wish } from './placement.js';
export { composeNotice, type NoticeContent } from './compose.js';
