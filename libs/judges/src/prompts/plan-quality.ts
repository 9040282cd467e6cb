import { VERDICT_TOKENS, type Prompt } from './prompt.js';
import { numberAndReason, verdictShape, type NumberAndReason } from './verdict.js';

export const planQualityPrompt: Prompt<NumberAndReason> = {
  name: 'plan_quality',
  text: `How good is "plan" for "task"? You do not see what was done, and it does not matter.

Ask of the plan: would following it to the letter achieve the whole task, its conditions included? Does each step have what it needs from the steps before it? Is each step concrete enough to be done and to be seen done? Are acts that cannot be undone preceded by the check they need? Is there a step that nothing needs? A short plan for a simple task is a good plan.

1: it would achieve the whole task; every step is concrete, in order and needed.
0.75: it would achieve the task; a step is vague or needless.
0.5: it covers the main part; something that matters is missing, out of order or too vague to do.
0.25: following it would achieve little of the task.
0: it does not serve the task.

${verdictShape}`,
  schema: numberAndReason,
  maxOutputTokens: VERDICT_TOKENS,
};
