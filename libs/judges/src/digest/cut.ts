/** Kept of a text that comes in, before anything looks at it: more than any digest shows, so its edges never do. */
const RAW_HEAD = 24_000;
const RAW_TAIL = 12_000;

/** The mark of a cut and its count take this much. */
const MARK_MAX = 48;

/**
 * At most about `max` UTF-16 units of a text, two thirds of them from its head and one from its tail (errors tell most in
 * their last line), with `…[N characters left out]…` between. `max` of 0 gives the empty text. Never splits a surrogate pair.
 */
export function headAndTail(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max <= 0) return '';
  const head = Math.ceil((max * 2) / 3);
  return joined(text, head, max - head);
}

/** How long `headAndTail` makes a text at most; it need not be built to be measured. */
export function lengthAfterCut(length: number, max: number): number {
  if (length <= max) return length;
  return max <= 0 ? 0 : max + MARK_MAX;
}

/** Bounds a text from outside to what is worth looking at, so that all further work on it is bounded too. */
export function bounded(text: string): string {
  return text.length <= RAW_HEAD + RAW_TAIL ? text : joined(text, RAW_HEAD, RAW_TAIL);
}

function joined(text: string, head: number, tail: number): string {
  const start = isSplitPair(text, head) ? head - 1 : head;
  const end = isSplitPair(text, text.length - tail) ? text.length - tail + 1 : text.length - tail;
  return `${text.slice(0, start)}…[${end - start} characters left out]…${text.slice(end)}`;
}

/** Whether a cut before unit `at` would part a high surrogate from its low one. */
function isSplitPair(text: string, at: number): boolean {
  return at > 0 && at < text.length && /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1));
}
