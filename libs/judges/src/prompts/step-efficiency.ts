import { VERDICT_TOKENS, type Prompt } from './prompt.js';
import { numberAndReason, verdictShape, type NumberAndReason } from './verdict.js';

export const stepEfficiencyPrompt: Prompt<NumberAndReason> = {
  name: 'step_efficiency',
  text: `How economical were the steps in "trace" for "task"? Judge the way, not the result: an agent that failed can have taken no needless step.

A step is needless when leaving it out would have changed nothing for the task: repeating a call whose answer was known and could not have changed, trying again unchanged after a failure that trying cannot cure, looking up what nothing needed, undoing one's own work, asking for what had been told. Checking before an act that cannot be undone, one retry after a passing failure, and checking a result are not needless. A model call that decides the next step belongs to that step. "4-9. ..." stands for six steps in a row.

1: minimal; no step could be left out.
0.75: minor redundancy; one or two needless steps that cost little.
0.5: noticeable redundancy; about a quarter or more of the steps are needless.
0.25: several unnecessary steps; about half of the steps are needless.
0: wasteful; most steps are needless, or the agent went in circles.

${verdictShape}`,
  schema: numberAndReason,
  maxOutputTokens: VERDICT_TOKENS,
};
