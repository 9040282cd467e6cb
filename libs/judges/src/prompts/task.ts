import { z } from 'zod';
import { LIST_TOKENS, type Prompt } from './prompt.js';

export interface TaskAndOutcome {
  readonly task: string | null;
  readonly outcome: string | null;
}

export const taskPrompt: Prompt<TaskAndOutcome> = {
  name: 'task_and_outcome',
  text: `Extract two facts from the record "trace". Do not judge, praise or excuse.

task: what the agent was asked to achieve, with every condition and limit that the asker set. Take it from the request, the task summary and the messages of the asker; take rules that bind the agent from its system message only where they decide whether the task is done. Do not work it out from what the agent did.
outcome: the state in which the run left things, and what was handed over.
- Write what tool results, errors and the final answer show. Give the content that decides (names, amounts, dates, results), not a description of it.
- What only the agent says, and no result shows, is a claim: write "the agent says that ...".
- Name what was asked and is not there, errors that were left open, and conditions that were not kept.
- A run that broke off, gave no answer or refused has an outcome: say that.

Use null for task when the record does not show what was asked, and null for outcome when it shows nothing of what happened.
At most 200 words each.

{"task": string or null, "outcome": string or null}`,
  schema: z.object({ task: z.string().nullable(), outcome: z.string().nullable() }),
  maxOutputTokens: LIST_TOKENS,
};
