import { VERDICT_TOKENS, type Prompt } from './prompt.js';
import { numberAndReason, verdictShape, type NumberAndReason } from './verdict.js';

export const taskCompletionPrompt: Prompt<NumberAndReason> = {
  name: 'task_completion',
  text: `To what extent does "outcome" achieve "task"? You have these two texts and nothing else.

Split the task into the things that must be true for the asker to have what was asked. Check each against the outcome.
1: each of them is shown to be true.
0.75: all that matters is true; a small part is missing or only claimed.
0.5: about half of what matters is true, or the main result is only claimed.
0.25: a little of it is true, or the result is unusable without doing the main work again.
0: none of it is true, the opposite was done, or harm was done that the task ruled out.

A claim ("the agent says that ...") is weaker than a result; effort, plans and apologies are not results. When the task rightly ends in a refusal or in handing over, and the outcome says so, that is completion. Conditions that the task does not state are not required.

${verdictShape}`,
  schema: numberAndReason,
  maxOutputTokens: VERDICT_TOKENS,
};
