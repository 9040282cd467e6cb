import { isRecorded, noEvidence } from '../evidence.js';
import type { Metric } from '../metric.js';
import { confidencePrompt } from '../prompts/confidence.js';
import { number } from './number.js';

/** Decisiveness and consistency of the trace, in one question. */
export const confidence: Metric = {
  prompts: [confidencePrompt],
  prepare: (judgement) =>
    isRecorded(judgement.trace)
      ? number(judgement, confidencePrompt, () => [{ name: 'trace', text: judgement.digest().text }])
      : noEvidence,
};
