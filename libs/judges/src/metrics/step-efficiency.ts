import { isRecorded, noEvidence, noTask } from '../evidence.js';
import type { Metric } from '../metric.js';
import { stepEfficiencyPrompt } from '../prompts/step-efficiency.js';
import { taskPrompt } from '../prompts/task.js';
import { taskAndOutcome } from '../stages/task.js';
import { number } from './number.js';

/** Judges the way by task and trace; the outcome is not shown, so that success does not make the way look better. */
export const stepEfficiency: Metric = {
  prompts: [taskPrompt, stepEfficiencyPrompt],
  prepare: async (judgement) => {
    if (judgement.trace.spans.length === 0) return { code: 'no_steps', reason: 'No step was recorded.' };
    if (!isRecorded(judgement.trace)) return noEvidence;
    const { task } = await taskAndOutcome(judgement);
    if (task === null) return noTask;
    return number(judgement, stepEfficiencyPrompt, () => [
      { name: 'task', text: task },
      { name: 'trace', text: judgement.digest().text },
    ]);
  },
};
