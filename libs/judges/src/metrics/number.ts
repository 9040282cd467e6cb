import type { Section } from '#domain/text';
import type { Judgement } from '../judgement.js';
import type { Verdict } from '../metric.js';
import type { Prompt } from '../prompts/prompt.js';
import type { NumberAndReason } from '../prompts/verdict.js';

/** A last stage that asks for one number and a reason. */
export function number(
  judgement: Judgement,
  prompt: Prompt<NumberAndReason>,
  material: () => readonly Section[],
): () => Promise<Verdict> {
  return async () => {
    const { verdict, reason } = await judgement.ask(prompt, material);
    return { value: verdict, reason };
  };
}
