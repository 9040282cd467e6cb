import { JsonSyntaxError } from './json-error.js';

/** Nesting that is accepted. Real turns nest a dozen levels; what comes after parsing walks values recursively. */
export const MAX_DEPTH = 200;
/** 2^53 has 16 digits: an integer of fewer is exact as a number. */
const EXACT_DIGITS = 15;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Looks over a text before it is parsed, in one loop without allocating (about a nanosecond a character).
 * @returns whether it holds a run of 16 or more digits outside strings
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
      if (digits > EXACT_DIGITS) long = true;
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
