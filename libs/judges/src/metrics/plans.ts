import { isRecorded, noEvidence, noTask } from '../evidence.js';
import type { Judgement } from '../judgement.js';
import type { Metric, NotApplicable } from '../metric.js';
import { planAdherencePrompt } from '../prompts/plan-adherence.js';
import { planQualityPrompt } from '../prompts/plan-quality.js';
import { planPrompt } from '../prompts/plan.js';
import { taskPrompt } from '../prompts/task.js';
import { explicitPlan, planText } from '../stages/plan.js';
import { taskAndOutcome } from '../stages/task.js';
import { number } from './number.js';

/** Judges what was done by the plan; sees task, plan and trace. */
export const planAdherence: Metric = {
  prompts: [planPrompt, taskPrompt, planAdherencePrompt],
  prepare: async (judgement) => {
    const found = await taskAndPlan(judgement);
    if ('code' in found) return found;
    return number(judgement, planAdherencePrompt, () => [
      { name: 'task', text: found.task },
      { name: 'plan', text: found.plan },
      { name: 'trace', text: judgement.digest().text },
    ]);
  },
};

/** Judges the plan by the task alone: what came of it must not colour it. */
export const planQuality: Metric = {
  prompts: [planPrompt, taskPrompt, planQualityPrompt],
  prepare: async (judgement) => {
    const found = await taskAndPlan(judgement);
    if ('code' in found) return found;
    return number(judgement, planQualityPrompt, () => [
      { name: 'task', text: found.task },
      { name: 'plan', text: found.plan },
    ]);
  },
};

async function taskAndPlan(judgement: Judgement): Promise<{ readonly task: string; readonly plan: string } | NotApplicable> {
  if (!isRecorded(judgement.trace)) return noEvidence;
  const plan = await explicitPlan(judgement);
  if (plan.length === 0) return { code: 'no_plan', reason: 'The trace states no plan.' };
  const { task } = await taskAndOutcome(judgement);
  return task === null ? noTask : { task, plan: planText(plan) };
}
