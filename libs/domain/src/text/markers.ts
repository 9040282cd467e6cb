/** Phrases by which this product speaks to agents; outside text must not be able to imitate them. */
export const DEFAULT_MARKERS: readonly string[] = ['fleetmend loop', 'system alert', 'harness:'];

/** Stands for something that `sanitize` removed, until markers have been looked for. */
export const REMOVED = '\0';

const BREAK = '·';
const GAP = String.raw`[\s\0-]+`;
const NOTHING = String.raw`\0*`;

export interface MarkerBreaker {
  /** Breaks every marker phrase in a text in which removed characters are written as `REMOVED`. */
  (text: string): string;
}

/**
 * Compiles marker phrases. A phrase is found case-insensitively (Unicode folding), inside words too; white space,
 * hyphens and removed characters between its words are a gap, which becomes one `·`. A phrase that ends in
 * punctuation gets the `·` before it, a single bare word after its first character.
 */
export function markerBreaker(phrases: readonly string[]): MarkerBreaker {
  const patterns = phrases.map(patternOf).filter((pattern) => pattern !== undefined);
  return (text) => patterns.reduce(breakOne, text);
}

function breakOne(text: string, pattern: RegExp): string {
  let before = text;
  let after = before.replace(pattern, joinPieces);
  // A phrase whose end is also its beginning can overlap itself; every round removes a gap, so this ends.
  while (after !== before) {
    before = after;
    after = before.replace(pattern, joinPieces);
  }
  return after;
}

function joinPieces(_match: string, ...captures: unknown[]): string {
  // String.replace passes the captures, then the offset (a number) and the whole text.
  const pieces = captures.slice(
    0,
    captures.findIndex((capture) => typeof capture === 'number'),
  );
  return pieces.join(BREAK);
}

function patternOf(phrase: string): RegExp | undefined {
  const words = phrase.split(/[\s-]+/).filter((word) => word !== '');
  const last = words.pop();
  if (last === undefined) return undefined;
  const [stem, rest] = splitLast(last, words.length > 0);
  const head = words.map((word) => capture(word) + GAP).join('');
  const tail = rest === '' ? '' : NOTHING + capture(rest);
  return new RegExp(head + capture(stem) + tail, 'giu');
}

function splitLast(word: string, hasGap: boolean): [stem: string, rest: string] {
  const punctuated = /^(.*[\p{L}\p{N}])([^\p{L}\p{N}]+)$/u.exec(word);
  if (punctuated !== null) return [punctuated[1] ?? '', punctuated[2] ?? ''];
  if (hasGap) return [word, ''];
  const [first = ''] = word;
  return [first, word.slice(first.length)];
}

function capture(word: string): string {
  const letters = Array.from(word, (letter) => letter.replace(/[\\^$.*+?()[\]{}|/]/, String.raw`\$&`));
  return `(${letters.join(NOTHING)})`;
}
