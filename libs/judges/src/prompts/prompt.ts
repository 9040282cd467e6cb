import { createHash } from 'node:crypto';
import { z } from 'zod';
import { preamble } from './preamble.js';

/** One question that a metric asks: the instructions, without any material, and the shape of the answer. */
export interface Prompt<T> {
  readonly name: string;
  readonly text: string;
  readonly schema: z.ZodType<T>;
  /** Room for an answer and for what a reasoning model thinks before it. */
  readonly maxOutputTokens: number;
}

/** Raised with every change of code that changes values while the prompts stay: the digest, the sampling, a formula. */
const CODE_VERSION = 1;

/** Sixteen hexadecimal digits over prompts (the preamble included), their schemas, and whatever else decides their values. */
export function hashOf(prompts: readonly Prompt<unknown>[], ...more: readonly unknown[]): string {
  const asked = prompts.map(({ name, text, schema }) => [name, text, z.toJSONSchema(schema)]);
  return createHash('sha256')
    .update(JSON.stringify([CODE_VERSION, preamble, asked, ...more]))
    .digest('hex')
    .slice(0, 16);
}

/** One number and why. The reason comes first, so that the number follows from it rather than the other way round. */
export const VERDICT_TOKENS = 2_000;
/** Lists of steps, tools or verdicts. */
export const LIST_TOKENS = 6_000;
