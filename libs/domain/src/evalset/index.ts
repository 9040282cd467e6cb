export {
  attachInput,
  baselineOf,
  captureCase,
  caseSummary,
  evalCaseId,
  isReplayable,
  matchingCases,
  removeCase,
  replayInputOf,
  sortedSignature,
  type CaptureResult,
  type CaseKind,
  type EvalCase,
  type EvalSet,
} from './evalset.js';
export { answerEvalSetLine, type EvalSetAnswer, type EvalSetLine } from './golden.js';
