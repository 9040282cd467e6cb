import { VERDICT_TOKENS, type Prompt } from './prompt.js';
import { numberAndReason, verdictShape, type NumberAndReason } from './verdict.js';

export const planAdherencePrompt: Prompt<NumberAndReason> = {
  name: 'plan_adherence',
  text: `Did the agent do what "plan" says? "task" is what was asked, "trace" what was done.

Go through the plan step by step. A step was followed when the record shows it done, in its place or at a time when the order makes no difference. Leaving the plan for a reason that the record shows (a result that made a step impossible or needless, a new wish of the asker) is following it. Do not judge whether the plan is good, or whether the result is right. Steps that the plan does not mention count only when they take the place of planned ones.

1: every step was followed.
0.75: all steps that matter were followed; a small one was left out or came too early or late.
0.5: about half were followed.
0.25: few were followed.
0: none was followed, or something else was done.

${verdictShape}`,
  schema: numberAndReason,
  maxOutputTokens: VERDICT_TOKENS,
};
