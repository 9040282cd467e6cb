import { jsonStringBytes, unitsFittingHead, unitsFittingTail } from './json-size.js';

/** What is left of a text that loses everything: quotes, the mark's words and a count of up to nine digits. */
export const SMALLEST_CUT = 36;

/**
 * Cuts the middle out of a text so that it takes at most `maxBytes` as a JSON string (quotes included): head and tail
 * are kept, the gap is marked `…[cut N characters]…`, N in code points. Never splits a surrogate pair.
 * A text that fits comes back as it is. `maxBytes` below `SMALLEST_CUT` counts as that.
 */
export function cutText(text: string, maxBytes: number): string {
  const limit = Math.max(maxBytes, SMALLEST_CUT);
  // Every unit takes 1 to 6 bytes, so most texts need no counting.
  if (text.length * 6 + 2 <= limit) return text;
  if (text.length + 2 <= limit && jsonStringBytes(text) <= limit) return text;
  const budget = limit - SMALLEST_CUT;
  const head = unitsFittingHead(text, Math.ceil(budget / 2));
  const tail = Math.min(unitsFittingTail(text, Math.floor(budget / 2)), text.length - head);
  const end = text.length - tail;
  return `${text.slice(0, head)}…[cut ${codePointsBetween(text, head, end)} characters]…${text.slice(end)}`;
}

function codePointsBetween(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; count += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return count;
}
