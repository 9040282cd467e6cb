import { VERDICT_TOKENS, type Prompt } from './prompt.js';
import { numberAndReason, verdictShape, type NumberAndReason } from './verdict.js';

export const confidencePrompt: Prompt<NumberAndReason> = {
  name: 'confidence',
  text: `How decisive and consistent is the agent in "trace"? Judge how it acts, not whether it is right, and not how sure it sounds: words of certainty or doubt count only where its steps bear them out.

Decisive: it settles on a way and goes it; it does not start over, swing between options, or ask again for what it has. Consistent: its statements agree with each other and with the results it got, and its answer follows from its steps. Changing course because of a new result, one question that had to be asked, and a plain "this cannot be known" are decisive and consistent.

1: one clear line from request to answer; nothing contradicts anything.
0.75: one small hesitation or inconsistency without effect.
0.5: it wavers noticeably, or one statement contradicts a result.
0.25: it changes course several times without new results, or its answer does not follow from its steps.
0: it goes back and forth or contradicts itself throughout, or comes to no end.

${verdictShape}`,
  schema: numberAndReason,
  maxOutputTokens: VERDICT_TOKENS,
};
