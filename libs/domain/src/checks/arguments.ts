import { canonicalJson, endOfFirstValue, isRecord, parseJson } from './json.js';

/** The arguments of one call: a value, not recorded at all, or a text that is not JSON. */
export type Arguments =
  | { readonly state: 'value'; readonly value: unknown; readonly empty: boolean }
  | { readonly state: 'absent' }
  | { readonly state: 'unreadable'; readonly why: string }
  | { readonly state: 'invalid'; readonly why: string };

/** Longer argument texts are not parsed: a check must not stall a worker. */
const TEXT_MAX = 1_048_576;

/**
 * Reads a TOOL span's input. `undefined` was not recorded; `null` and an empty text are a call without arguments.
 * A text that begins like an object or array must be JSON; quotes and blanks after one complete value are forgiven
 * (open models write `{}""`), a second value is not. A value encoded twice is decoded twice. Any other text is itself
 * the argument: many frameworks pass one plain string.
 */
export function readArguments(input: unknown): Arguments {
  if (input === undefined) return { state: 'absent' };
  if (input === null) return { state: 'value', value: {}, empty: true };
  if (typeof input !== 'string') return { state: 'value', value: input, empty: false };
  return readText(input, true);
}

function readText(input: string, mayBeTwiceEncoded: boolean): Arguments {
  if (input.length > TEXT_MAX) return { state: 'unreadable', why: 'has arguments too large to check' };
  const text = input.trim();
  if (text === '') return { state: 'value', value: {}, empty: true };
  if (text.startsWith('{') || text.startsWith('[')) return readStructure(text);
  const decoded = mayBeTwiceEncoded && text.startsWith('"') ? parseJson(text)?.value : undefined;
  if (typeof decoded === 'string') return readText(decoded, false);
  return { state: 'value', value: input, empty: false };
}

function readStructure(text: string): Arguments {
  const whole = parseJson(text);
  if (whole !== undefined) return { state: 'value', value: whole.value, empty: false };
  const end = endOfFirstValue(text);
  if (end < 0) return { state: 'invalid', why: 'has arguments that are cut off' };
  const first = parseJson(text.slice(0, end));
  if (first === undefined) return { state: 'invalid', why: 'has arguments that are not valid JSON' };
  const rest = text.slice(end);
  if (!/^["'\s]*$/.test(rest)) return { state: 'invalid', why: 'has more text after its JSON arguments' };
  return { state: 'value', value: first.value, empty: false };
}

/**
 * A text by which two calls can be told to have identical arguments, whatever their key order and encoding.
 * Undefined when the arguments are not recorded (two unknowns are not equal).
 */
export function argumentsKey(input: unknown): string | undefined {
  const read = readArguments(input);
  if (read.state === 'value') return canonicalJson(read.value);
  return typeof input === 'string' ? `text:${input}` : undefined;
}

/** Large or deep arguments are not validated: keywords such as uniqueItems cost the square of the size. */
const NODES_MAX = 4000;
const DEPTH_MAX = 64;

/** Bigints as numbers (JSON Schema knows one kind of number); undefined when too large to validate. */
export function forValidation(value: unknown): { readonly value: unknown } | undefined {
  const seen = { nodes: 0, bigints: false };
  if (!survey(value, seen, 0)) return undefined;
  return { value: seen.bigints ? withNumbers(value) : value };
}

function survey(value: unknown, seen: { nodes: number; bigints: boolean }, depth: number): boolean {
  seen.nodes += 1;
  if (typeof value === 'bigint') seen.bigints = true;
  if (typeof value !== 'object' || value === null) return seen.nodes <= NODES_MAX;
  if (depth >= DEPTH_MAX) return false;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if (!survey(item, seen, depth + 1)) return false;
  }
  return true;
}

function withNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(withNumbers);
  if (!isRecord(value)) return value;
  // fromEntries defines own properties, so a key `__proto__` stays a key.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withNumbers(item)]));
}
