import { JsonSyntaxError } from './json-error.js';

/** Nesting that is accepted. Real turns nest a dozen levels; what comes after parsing walks values recursively. */
export const MAX_DEPTH = 200;
/** 2^53 is 9007199254740992, of 16 digits: an integer of fewer is exact as a number, and so is one of 16 that begins below 9. */
const EXACT_DIGITS = 15;
const NINE = 0x39;
const POINT = 0x2e;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Looks over a text before it is parsed, in one loop without allocating (about a nanosecond a character).
 * @returns whether it holds, outside strings, an integer that a number may not hold exactly
 * @throws JsonSyntaxError when it nests deeper than `MAX_DEPTH`
 */
export function scanJson(text: string): boolean {
  let depth = 0;
  let digits = 0;
  let long = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x30 && unit <= 0x39) {
      digits += 1;
      if (digits > EXACT_DIGITS) long ||= mayBeInexact(text, at - digits + 1, digits);
      continue;
    }
    digits = 0;
    if (unit === QUOTE) {
      at = closingQuote(text, at + 1);
    } else if (unit === 0x7b || unit === 0x5b) {
      depth += 1;
      if (depth > MAX_DEPTH) throw tooDeep(text, at);
    } else if (unit === 0x7d || unit === 0x5d) {
      depth -= 1;
    }
  }
  return long;
}

/** Looked at again with every further digit of a run, so `digits` is how many there are so far. Fractions lose nothing that JSON.parse keeps. */
function mayBeInexact(text: string, start: number, digits: number): boolean {
  if (text.charCodeAt(start - 1) === POINT) return false;
  return digits > EXACT_DIGITS + 1 || text.charCodeAt(start) === NINE;
}

export function tooDeep(text: string, at: number): JsonSyntaxError {
  return new JsonSyntaxError(`nested deeper than ${MAX_DEPTH} levels; send deeper structures as text.`, text, at);
}

/** Index of the quote that ends the string whose content begins at `from`, or the length of the text. */
export function closingQuote(text: string, from: number): number {
  // indexOf looks at many characters at once, which a loop does not.
  let at = text.indexOf('"', from);
  while (at !== -1 && isEscaped(text, at, from)) at = text.indexOf('"', at + 1);
  return at === -1 ? text.length : at;
}

function isEscaped(text: string, at: number, from: number): boolean {
  let start = at;
  while (start > from && text.charCodeAt(start - 1) === BACKSLASH) start -= 1;
  return (at - start) % 2 === 1;
}
