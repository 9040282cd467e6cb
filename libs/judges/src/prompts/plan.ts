import { z } from 'zod';
import { LIST_TOKENS, type Prompt } from './prompt.js';

export interface ExtractedPlan {
  readonly steps: readonly { readonly step: string; readonly quote: string }[];
}

export const planPrompt: Prompt<ExtractedPlan> = {
  name: 'plan',
  text: `Find the plan in the record "trace": a statement, made before acting, of the steps that the agent is going to take. It may stand in the agent's own words, in the arguments of a tool that keeps plans or to-do lists, or in instructions that prescribe the steps.

- A plan must be written there. Never work one out from what the agent did, and do not count a description of past steps, a single announced next action, a list of options, or rules of conduct without an order of steps.
- When a plan was changed, take the last version that was written before the steps it is about.
- One entry per step, in the order of the plan. step: what is to be done, in one sentence. quote: the words in the record that state it, copied character by character, from one place, without "…[N characters left out]…".

Return an empty list when there is no such plan. That is the common case and no fault.

{"steps": [{"step": string, "quote": string}]}`,
  schema: z.object({ steps: z.array(z.object({ step: z.string(), quote: z.string() })) }),
  maxOutputTokens: LIST_TOKENS,
};
