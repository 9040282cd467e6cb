import { tokens } from '../text/index.js';
import { byNewest, byStanding, firstOf } from './order.js';
import type { RuleCore } from './rule.js';
import { GLOBAL_SCOPE } from './scope.js';

/** What search looks at. */
export interface SearchableRule extends RuleCore {
  readonly rationale: string;
  readonly metric: string | null;
  readonly tags: readonly string[];
}

export interface Ranked<R> {
  readonly rule: R;
  /** From 0 (no word of the query) to 2 (every word among the tags). */
  readonly score: number;
}

interface Entry<R> {
  readonly rule: R;
  /** How much each of its tokens counts. */
  readonly weights: ReadonlyMap<string, number>;
  /** Weights found by the query of round `round`; of another round it means nothing. */
  hits: number;
  round: number;
}

const TAG_WEIGHT = 2;
const TEXT_WEIGHT = 1;

/**
 * Rules ready to be searched, kept up to date one by one (BEHAVIOUR 9). The score is (2 x query tokens among a rule's tags +
 * query tokens in its text, rationale or metric only) / query tokens. Stop words count. Ties: newest first, then by id.
 */
export class SearchIndex<R extends SearchableRule> {
  readonly #entries = new Map<string, Entry<R>>();
  readonly #byToken = new Map<string, Set<Entry<R>>>();
  #round = 0;

  constructor(rules: Iterable<R> = []) {
    for (const rule of rules) this.set(rule);
  }

  set(rule: R): void {
    this.delete(rule.id);
    const entry: Entry<R> = { rule, weights: weightsOf(rule), hits: 0, round: 0 };
    this.#entries.set(rule.id, entry);
    for (const token of entry.weights.keys()) {
      const known = this.#byToken.get(token);
      if (known === undefined) this.#byToken.set(token, new Set([entry]));
      else known.add(entry);
    }
  }

  delete(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    for (const token of entry.weights.keys()) {
      const known = this.#byToken.get(token);
      known?.delete(entry);
      if (known?.size === 0) this.#byToken.delete(token);
    }
  }

  get(id: string): R | undefined {
    return this.#entries.get(id)?.rule;
  }

  *rules(): Generator<R> {
    for (const { rule } of this.#entries.values()) yield rule;
  }

  /** The `limit` best of the rules asked for; those without a word of the query fill up to the limit. */
  rank(query: string, limit: number, isAskedFor: (rule: R) => boolean): Ranked<R>[] {
    const words = tokens(query);
    this.#count(words);
    const round = this.#round;
    const hitsOf = (entry: Entry<R>): number => (entry.round === round ? entry.hits : 0);
    const asked = filter(this.#entries.values(), ({ rule }) => isAskedFor(rule));
    return firstOf(asked, limit, (a, b) => hitsOf(b) - hitsOf(a) || byNewest(a.rule, b.rule)).map((entry) => ({
      rule: entry.rule,
      score: words.length === 0 ? 0 : hitsOf(entry) / words.length,
    }));
  }

  /** Every active `global` rule, oldest first, then the `limit` best of the other active ones. */
  relevant(query: string, limit: number): R[] {
    const globals = [...this.rules()].filter((rule) => rule.status === 'active' && rule.scope === GLOBAL_SCOPE);
    const others = this.rank(query, limit, (rule) => rule.status === 'active' && rule.scope !== GLOBAL_SCOPE);
    return [...globals.sort(byStanding), ...others.map(({ rule }) => rule)];
  }

  #count(words: readonly string[]): void {
    this.#round += 1;
    for (const word of words) {
      for (const entry of this.#byToken.get(word) ?? []) {
        if (entry.round !== this.#round) entry.hits = 0;
        entry.round = this.#round;
        entry.hits += entry.weights.get(word) ?? 0;
      }
    }
  }
}

function weightsOf({ rule, rationale, metric, tags }: SearchableRule): Map<string, number> {
  const weights = new Map<string, number>();
  for (const token of tokens(`${rule}\n${rationale}\n${metric ?? ''}`)) weights.set(token, TEXT_WEIGHT);
  for (const token of tokens(tags.join('\n'))) weights.set(token, TAG_WEIGHT);
  return weights;
}

function* filter<T>(items: Iterable<T>, isKept: (item: T) => boolean): Generator<T> {
  for (const item of items) if (isKept(item)) yield item;
}
