import { tokens } from '../text/index.js';
import { byNewest, byStanding } from './order.js';
import type { RuleCore } from './rule.js';
import { GLOBAL_SCOPE } from './scope.js';
import { Slots, WordIndex } from './word-index.js';

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
  readonly tagWords: readonly string[];
  /** Words of text, rationale and metric that are no words of its tags. */
  readonly textWords: readonly string[];
}

const TAG_WEIGHT = 2;
const TEXT_WEIGHT = 1;

/**
 * Rules ready to be searched, kept up to date one by one (BEHAVIOUR 9). The score is (2 x query tokens among a rule's tags +
 * query tokens in its text, rationale or metric only) / query tokens. Stop words count. Ties: newest first, then by id.
 */
export class SearchIndex<R extends SearchableRule> {
  readonly #slots = new Slots<Entry<R>>();
  readonly #slotOf = new Map<string, number>();
  readonly #tags = new WordIndex();
  readonly #texts = new WordIndex();
  /** The slots in the order of `byNewest`. */
  readonly #newest: number[] = [];

  constructor(rules: Iterable<R> = []) {
    for (const rule of rules) this.set(rule);
  }

  set(rule: R): void {
    this.delete(rule.id);
    const entry = entryOf(rule);
    const slot = this.#slots.put(entry);
    this.#slotOf.set(rule.id, slot);
    this.#tags.add(slot, entry.tagWords);
    this.#texts.add(slot, entry.textWords);
    this.#newest.splice(this.#placeOf(rule), 0, slot);
  }

  delete(id: string): void {
    const slot = this.#slotOf.get(id);
    const entry = slot === undefined ? undefined : this.#slots.get(slot);
    if (slot === undefined || entry === undefined) return;
    this.#slotOf.delete(id);
    this.#tags.remove(slot, entry.tagWords);
    this.#texts.remove(slot, entry.textWords);
    this.#newest.splice(this.#newest.indexOf(slot), 1);
    this.#slots.free(slot);
  }

  get(id: string): R | undefined {
    const slot = this.#slotOf.get(id);
    return slot === undefined ? undefined : this.#slots.get(slot)?.rule;
  }

  /** All rules, newest first. */
  *rules(): Generator<R> {
    for (const slot of this.#newest) {
      const entry = this.#slots.get(slot);
      if (entry !== undefined) yield entry.rule;
    }
  }

  /** The `limit` best of the rules asked for; those without a word of the query fill up to the limit. */
  rank(query: string, limit: number, isAskedFor: (rule: R) => boolean): Ranked<R>[] {
    const words = tokens(query);
    const hits = this.#slots.counts();
    this.#tags.count(words, TAG_WEIGHT, hits);
    this.#texts.count(words, TEXT_WEIGHT, hits);
    // Going through them newest first fills each level in its final order; nothing has to be sorted.
    const levels: R[][] = Array.from({ length: TAG_WEIGHT * words.length + 1 }, () => []);
    for (const slot of this.#newest) {
      const level = levels[hits[slot] ?? 0];
      if (level === undefined || level.length >= limit) continue;
      const rule = this.#slots.get(slot)?.rule;
      if (rule !== undefined && isAskedFor(rule)) level.push(rule);
    }
    const scored = levels.map((rules, hit) => rules.map((rule) => ({ rule, score: hit / Math.max(1, words.length) })));
    return scored.reverse().flat().slice(0, Math.max(0, limit));
  }

  /** Every active `global` rule, oldest first, then the `limit` best of the other active ones. */
  relevant(query: string, limit: number): R[] {
    const globals = [...this.rules()].filter((rule) => rule.status === 'active' && rule.scope === GLOBAL_SCOPE);
    const others = this.rank(query, limit, (rule) => rule.status === 'active' && rule.scope !== GLOBAL_SCOPE);
    return [...globals.sort(byStanding), ...others.map(({ rule }) => rule)];
  }

  /** How many rules come before it. */
  #placeOf(rule: R): number {
    let low = 0;
    let high = this.#newest.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const found = this.#slots.get(this.#newest[middle] ?? -1);
      if (found !== undefined && byNewest(found.rule, rule) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function entryOf<R extends SearchableRule>(rule: R): Entry<R> {
  const tagWords = tokens(rule.tags.join('\n'));
  const tagged = new Set(tagWords);
  const text = tokens(`${rule.rule}\n${rule.rationale}\n${rule.metric ?? ''}`);
  return { rule, tagWords, textWords: text.filter((word) => !tagged.has(word)) };
}
