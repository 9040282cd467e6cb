import { stringify } from 'lossless-json';
import { LenientReader } from './json-lenient.js';
import { scanJson } from './json-scan.js';

/** A parsed text, and what had to be forgiven or replaced in it, once per kind. */
export interface ParsedJson {
  readonly value: unknown;
  readonly notes: string[];
}

const UTF8_NOTE = 'bytes that are not UTF-8 were replaced by U+FFFD';

/**
 * Parses JSON from outside. Text that JSON.parse takes without loss goes through JSON.parse; otherwise a careful
 * reader keeps integers beyond 2^53 to the last digit (as bigint), turns NaN and Infinity (which Python writes) into null and
 * accepts raw control characters inside strings, with notes. A byte order mark is dropped.
 * @param text a string, or UTF-8 bytes
 * @throws JsonSyntaxError with line, column, excerpt and what to do; also for nesting deeper than 200 levels
 */
export function parseJson(text: string | Uint8Array): ParsedJson {
  if (typeof text !== 'string') return parseBytes(text);
  const body = text.startsWith('\ufeff') ? text.slice(1) : text;
  if (!scanJson(body)) {
    try {
      return { value: JSON.parse(body), notes: [] };
    } catch {
      // The careful reader forgives more, and says where and why when it does not.
    }
  }
  const reader = new LenientReader(body);
  return { value: reader.read(), notes: [...reader.notes] };
}

function parseBytes(bytes: Uint8Array): ParsedJson {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const { value, notes } = parseJson(new TextDecoder().decode(bytes));
    return { value, notes: [UTF8_NOTE, ...notes] };
  }
  return parseJson(text);
}

/**
 * Writes a JSON value; bigints as plain integers, numbers that are not finite as null.
 * @throws RangeError when the value contains itself or nests too deep for the stack
 */
export function stringifyJson(value: unknown): string {
  try {
    const text: unknown = JSON.stringify(value);
    return typeof text === 'string' ? text : 'null';
  } catch (error) {
    // JSON.stringify has one way to say that it met a bigint.
    if (!(error instanceof TypeError)) throw error;
    return stringify(value) ?? 'null';
  }
}
