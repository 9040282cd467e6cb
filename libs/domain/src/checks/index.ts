export { runCheck, hasCheck, checkedMetrics } from './run-check.js';
export { EVALUATOR, type CheckContext } from './outcome.js';
export { traceSignal } from './signal.js';
export { answerText, extractText, requestText } from './text.js';
export { hasFailed, toolCalls, type ToolCall } from './tool-calls.js';
export { answerScoreLine, ScoreLineError } from './offline.js';
export { coherenceTexts, type CoherenceTexts } from './coherence.js';
export { cosine, embeddingCoherence } from './coherence-embedding.js';
