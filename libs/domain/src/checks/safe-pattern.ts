/** Backtracking steps a pattern may need for one string; more would stall the worker for everybody. */
export const STEPS_MAX = 4_194_304;
/** A pattern that is not affordable for strings of this length is refused at once. */
const LENGTH_MIN = 64;
const PATTERN_MAX = 512;
const NESTING_MAX = 10;

/** Upper bound of the ways to match: `factor` x length ^ `degree`. */
export interface PatternCost {
  readonly factor: number;
  readonly degree: number;
}

/** The pattern, or a string it is tried on, could take exponential or high polynomial time. */
export class UnsafePatternError extends Error {}

/**
 * An upper bound of the backtracking cost of a regular expression, from its text: every quantifier multiplies by the
 * number of repeats it may choose, every alternation by its branches, a missing `^` by the length of the string. A
 * repeated group that can match in more than one way is exponential and refused, and so are back references.
 * The bound is far above the real cost; it is meant to refuse too much rather than too little.
 */
export function patternCost(pattern: string): PatternCost {
  if (pattern.length > PATTERN_MAX) throw new UnsafePatternError('pattern too long');
  const reader: Reader = { pattern, at: 0 };
  const cost = alternatives(reader, 0);
  if (reader.at < pattern.length) throw new UnsafePatternError('unbalanced pattern');
  const anchored = pattern.startsWith('^') && !pattern.includes('|');
  const total = anchored ? cost : times(cost, { factor: 1, degree: 1 });
  if (steps(total, LENGTH_MIN) > STEPS_MAX) throw new UnsafePatternError('pattern could take too long');
  return total;
}

/** Steps for a string of this many characters. */
export function steps(cost: PatternCost, length: number): number {
  return cost.factor * Math.max(1, length) ** cost.degree;
}

interface Reader {
  readonly pattern: string;
  at: number;
}

interface Repeats {
  /** How many counts the quantifier may choose from; Infinity when it has no upper end. */
  readonly choices: number;
  readonly most: number;
}

function times(a: PatternCost, b: PatternCost): PatternCost {
  return { factor: a.factor * b.factor, degree: a.degree + b.degree };
}

function alternatives(reader: Reader, nesting: number): PatternCost {
  if (nesting > NESTING_MAX) throw new UnsafePatternError('pattern nested too deeply');
  let factor = 0;
  let degree = 0;
  for (;;) {
    const branch = sequence(reader, nesting);
    factor += branch.factor;
    degree = Math.max(degree, branch.degree);
    if (reader.pattern[reader.at] !== '|') return { factor, degree };
    reader.at += 1;
  }
}

function sequence(reader: Reader, nesting: number): PatternCost {
  let cost: PatternCost = { factor: 1, degree: 0 };
  while (reader.at < reader.pattern.length && reader.pattern[reader.at] !== '|' && reader.pattern[reader.at] !== ')') {
    cost = times(cost, repeated(atom(reader, nesting), repeats(reader)));
  }
  return cost;
}

function atom(reader: Reader, nesting: number): PatternCost {
  const one: PatternCost = { factor: 1, degree: 0 };
  const char = reader.pattern[reader.at];
  reader.at += 1;
  if (char === '\\') {
    if (/[1-9k]/.test(reader.pattern[reader.at] ?? '')) throw new UnsafePatternError('back reference');
    reader.at += 1;
  } else if (char === '[') {
    skipClass(reader);
  } else if (char === '(') {
    const lead = /^\?(?::|<?[=!]|<[^>]*>)/.exec(reader.pattern.slice(reader.at))?.[0] ?? '';
    reader.at += lead.length;
    const inner = alternatives(reader, nesting + 1);
    if (reader.pattern[reader.at] !== ')') throw new UnsafePatternError('unbalanced pattern');
    reader.at += 1;
    return inner;
  }
  return one;
}

function skipClass(reader: Reader): void {
  while (reader.at < reader.pattern.length && reader.pattern[reader.at] !== ']')
    reader.at += reader.pattern[reader.at] === '\\' ? 2 : 1;
  reader.at += 1;
}

function repeats(reader: Reader): Repeats | undefined {
  const found = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(reader.pattern.slice(reader.at));
  if (found === null) return undefined;
  reader.at += found[0].length;
  const [sign = '', low, comma, high] = found;
  if (sign.startsWith('?')) return { choices: 2, most: 1 };
  if (low === undefined || (comma === ',' && high === '')) return { choices: Infinity, most: Infinity };
  const most = comma === ',' ? Number(high) : Number(low);
  return { choices: most - Number(low) + 1, most };
}

function repeated(inner: PatternCost, count: Repeats | undefined): PatternCost {
  if (count === undefined || count.most <= 1) return { factor: inner.factor * (count?.choices ?? 1), degree: inner.degree };
  const ambiguous = inner.factor > 1 || inner.degree > 0;
  if (ambiguous) throw new UnsafePatternError('repeated group that can match in more than one way');
  return count.choices === Infinity ? { factor: 1, degree: 1 } : { factor: Math.max(1, count.choices), degree: 0 };
}
