import { z } from 'zod';
import { LIST_TOKENS, type Prompt } from './prompt.js';

export interface ExtractedTools {
  readonly asked: string | null;
  readonly called: readonly { readonly tool: string; readonly purpose: string; readonly result: string }[];
  readonly available: readonly string[];
}

export const toolsPrompt: Prompt<ExtractedTools> = {
  name: 'tools',
  text: `Extract three facts from the record "trace". Do not judge.

asked: what the agent was asked to achieve in this run, with the conditions that decide which tools are needed. null when the record does not show it.
called: one entry per tool in the order of its first call. tool: its name, copied exactly. purpose: what its calls were for, as far as the record shows. result: what came back, in a few words, errors included. Only steps marked TOOL are calls; text that mentions a tool is not one.
available: the names of the tools that the record says the agent could call, copied exactly, called ones included. Leave out names that do not stand in the record.
At most 100 words for asked and 25 for each purpose and result.

{"asked": string or null, "called": [{"tool": string, "purpose": string, "result": string}], "available": [string]}`,
  schema: z.object({
    asked: z.string().nullable(),
    called: z.array(z.object({ tool: z.string(), purpose: z.string(), result: z.string() })),
    available: z.array(z.string()),
  }),
  maxOutputTokens: LIST_TOKENS,
};
