import { VERDICT_TOKENS, type Prompt } from './prompt.js';
import { numberAndReason, verdictShape, type NumberAndReason } from './verdict.js';

export const toolSelectionPrompt: Prompt<NumberAndReason> = {
  name: 'tool_correctness',
  text: `Did the agent choose the right tools for what was asked? You have "asked", "called" and "available".

Put each tool into one class:
- right: what was asked needed it, or a careful agent would have called it to find out what it needed to know.
- superfluous: it was called, and nothing that was asked needed it.
- wrong: another available tool was the one for this purpose, or the called one is not available.
- missing: an available tool was needed and not called.
Judge the choice of tools only: not their arguments, not how often each was called, not whether the service behind it failed. Where "available" is not recorded, call no tool missing or unavailable.

1: every tool is right, none is missing.
0.75: all that were needed are there; one or two are superfluous.
0.5: most are right, but one that matters is wrong or missing.
0.25: few are right; what was asked could not be achieved with these.
0: none is right.

${verdictShape}`,
  schema: numberAndReason,
  maxOutputTokens: VERDICT_TOKENS,
};
