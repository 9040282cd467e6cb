import { REDACTED } from './bounded-json.js';

/** A part of a text to replace: from `start` (inclusive) to `end` (exclusive). */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A key longer than this is judged by its end. */
const KEY_WINDOW = 128;
const SCALAR = /-?\d[\d.eE+-]*|true|false|null|True|False|None/y;
const COLON = /\s{0,8}:\s{0,8}/y;

/** A quote as it is written at one level of nesting: JSON in JSON in a string has 1, 3, 7 backslashes before it. */
interface Quote {
  readonly mark: string;
  readonly backslashes: number;
}

/**
 * The value of a sensitive key inside JSON that is itself inside a string (tool arguments, say).
 * @param quoteAt index of the quote that closes the key
 * @param isSensitive which keys name a secret
 * @returns what to replace, or undefined when the key is not sensitive or no value follows
 */
export function embeddedSecret(text: string, quoteAt: number, isSensitive: (key: string) => boolean): Replacement | undefined {
  const quote: Quote = { mark: text.charAt(quoteAt), backslashes: backslashesBefore(text, quoteAt) };
  const keyEnd = quoteAt - quote.backslashes;
  const window = text.slice(Math.max(0, keyEnd - KEY_WINDOW), keyEnd);
  if (!isSensitive(window.slice(window.lastIndexOf(quote.mark) + 1))) return undefined;
  COLON.lastIndex = quoteAt + 1;
  if (!COLON.test(text)) return undefined;
  const start = COLON.lastIndex;
  const end = valueEnd(text, start, quote);
  if (end === undefined) return undefined;
  const written = '\\'.repeat(quote.backslashes) + quote.mark;
  return { start, end, text: written + REDACTED + written };
}

function valueEnd(text: string, start: number, quote: Quote): number | undefined {
  const opening = start + quote.backslashes;
  if (text.charAt(opening) === quote.mark && backslashesBefore(text, opening) === quote.backslashes) {
    return stringEnd(text, opening + 1, quote);
  }
  const first = text.charAt(start);
  if (first === '{' || first === '[') return containerEnd(text, start, quote);
  SCALAR.lastIndex = start;
  return SCALAR.test(text) ? SCALAR.lastIndex : undefined;
}

/** Where a string ends; the end of the text when it was cut off, because half a secret is one too. */
function stringEnd(text: string, from: number, quote: Quote): number {
  // With k backslashes before a delimiter, a backslash of the content is written as 2(k+1) and its quote as 2k+1 more.
  const period = 2 * (quote.backslashes + 1);
  for (let at = text.indexOf(quote.mark, from); at !== -1; at = text.indexOf(quote.mark, at + 1)) {
    if (backslashesBefore(text, at, from) % period === quote.backslashes) return at + 1;
  }
  return text.length;
}

function containerEnd(text: string, start: number, quote: Quote): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === quote.mark) at = stringEnd(text, at + 1, quote) - 1;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

function backslashesBefore(text: string, at: number, notBefore = 0): number {
  let count = 0;
  while (at - count > notBefore && text.charCodeAt(at - count - 1) === 0x5c) count += 1;
  return count;
}
