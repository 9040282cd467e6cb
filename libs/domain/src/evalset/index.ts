export {
  attachInput,
  captureCase,
  isReplayable,
  matchingCases,
  removeCase,
  sortedSignature,
  type CaptureResult,
  type CaseKind,
  type EvalCase,
  type EvalSet,
} from './evalset.js';
export { answerEvalSetLine, type EvalSetAnswer, type EvalSetLine } from './golden.js';
