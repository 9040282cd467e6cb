import { z } from 'zod';
import { LIST_TOKENS, type Prompt } from './prompt.js';

export interface CallVerdict {
  readonly id: string;
  readonly reason: string;
  readonly correct: 'yes' | 'no';
}
export interface CallVerdicts {
  readonly verdicts: readonly CallVerdict[];
}

export const argumentsPrompt: Prompt<CallVerdicts> = {
  name: 'argument_correctness',
  text: `For each call listed in "calls": were its arguments correct when it was made? "trace" is the whole run, with the ids of the calls in brackets; "tools" says what the arguments mean, where that was recorded.

Answer "yes" when every argument that matters is supported by what was known before the call: the request, the rules given to the agent, earlier results. Answer "no" when at least one argument
- contradicts them (another person, item, date, amount, unit or place),
- was made up although it could have been known or asked for,
- is missing although the tool requires it or the request states it, or
- does not fit the tool's description.
A search term, a guess that the tool is there to test, and a default that nobody spoke about are correct. Do not use what was learnt only after the call. Do not judge whether the call was needed, or whether it failed for reasons of its own: a failed call can have correct arguments.

Judge each call by itself; the same arguments in the same situation get the same verdict. Give exactly one verdict for each id in "calls", and none for other ids.
reason: one short sentence: the argument and the evidence that decided.

{"verdicts": [{"id": string, "reason": string, "correct": "yes" or "no"}]}`,
  schema: z.object({
    verdicts: z.array(
      z.object({
        // The trace shows ids in brackets, and models copy those.
        id: z.preprocess((value) => (typeof value === 'string' ? value.replace(/[[\]\s]/g, '') : value), z.string()),
        reason: z.string(),
        correct: z.preprocess((value) => (typeof value === 'string' ? value.trim().toLowerCase() : value), z.enum(['yes', 'no'])),
      }),
    ),
  }),
  maxOutputTokens: LIST_TOKENS,
};
