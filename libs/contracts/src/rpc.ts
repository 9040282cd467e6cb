import { z } from 'zod';

const json = z.unknown();

/** `rpc.verify`: did this turn end as its user wanted? Answered by the user's own code. */
export const verifyRequest = z.looseObject({
  session_id: z.string(),
  turn_index: z.int().min(0),
  end_state: json,
  replay_id: z.string().nullish(),
});
export type VerifyRequest = z.output<typeof verifyRequest>;

/** `rpc.metric.<name>`: what a project's own metric says of one trace. `request` and `answer` are its texts, without their wrappers. */
export const metricRequest = z.looseObject({
  metric: z.string(),
  session_id: z.string(),
  turn_index: z.int().min(0),
  trace: json,
  request: z.string(),
  answer: z.string(),
  end_state: json,
});
export type MetricRequest = z.output<typeof metricRequest>;

/** What a verifier or an own metric said: a value in [0, 1], that it cannot say (null), or why it failed. */
export type RpcAnswer = { readonly value: number | null; readonly reason: string | null } | { readonly error: string };

const NUMERIC = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/**
 * The answer to `rpc.verify`, however people write one: a number in [0, 1], true, false, null, or any of them as a string; bare
 * or as `{value, reason?}`; or `{error}`. Anything else does not parse: an answer that cannot be read is no verdict.
 */
export const verifyAnswer = json.transform((given, context): RpcAnswer => {
  const answer = readAnswer(given);
  if (answer !== undefined) return answer;
  context.addIssue({
    code: 'custom',
    message: 'expected a number from 0 to 1, true, false or null, or one of them as {value, reason}',
  });
  return z.NEVER;
});
/** The answer of a project's own metric is read in the same way. */
export const metricAnswer = verifyAnswer;

function readAnswer(given: unknown): RpcAnswer | undefined {
  const { value, reason, error } = isRecord(given) ? given : { value: given };
  if (typeof error === 'string') return { error };
  const number = readValue(value);
  return number === undefined ? undefined : { value: number, reason: typeof reason === 'string' ? reason : null };
}

function readValue(given: unknown): number | null | undefined {
  const value = typeof given === 'string' ? readWord(given.trim().toLowerCase()) : given;
  if (value === null) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'number' && value >= 0 && value <= 1 ? value : undefined;
}

function readWord(word: string): unknown {
  return WORDS.has(word) ? WORDS.get(word) : NUMERIC.test(word) ? Number(word) : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
