/** What a verifier or an own metric said: a value in [0, 1], that it cannot say (null), or why it failed. */
export type RpcAnswer = { readonly value: number | null; readonly reason: string | null } | { readonly error: string };

/** What readable answers look like, for messages. */
export const RPC_ANSWERS = 'a number from 0 to 1, true, false or null, or one of them as {value, reason}';

const NUMERIC = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/**
 * Reads an answer however people write one: a number in [0, 1], true, false, null, or any of them as a string; bare or as
 * `{value, reason?}`; or `{error}`. Undefined for anything else: an answer that cannot be read is no verdict.
 * Apart from rpc.ts, so that the client reads what it sends without zod.
 */
export function readRpcAnswer(given: unknown): RpcAnswer | undefined {
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
