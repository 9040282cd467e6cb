import { isRecorded, noEvidence, noTask } from '../evidence.js';
import type { Metric } from '../metric.js';
import { taskCompletionPrompt } from '../prompts/task-completion.js';
import { taskPrompt } from '../prompts/task.js';
import { taskAndOutcome } from '../stages/task.js';
import { number } from './number.js';

/** Extracts task and outcome, then compares these two texts alone: what does not reach the second stage cannot sway it. */
export const taskCompletion: Metric = {
  prompts: [taskPrompt, taskCompletionPrompt],
  prepare: async (judgement) => {
    if (!isRecorded(judgement.trace)) return noEvidence;
    const { task, outcome } = await taskAndOutcome(judgement);
    if (task === null) return noTask;
    if (outcome === null) return { code: 'no_outcome', reason: 'The trace does not show what came of the task.' };
    return number(judgement, taskCompletionPrompt, () => [
      { name: 'task', text: task },
      { name: 'outcome', text: outcome },
    ]);
  },
};
