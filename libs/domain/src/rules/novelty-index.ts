import {
  coverOf,
  LEAST_CONTAINMENT,
  traitsOf,
  type ComparedRule,
  type NoveltyCheck,
  type Proposal,
  type Traits,
} from './novelty.js';
import { byNewest } from './order.js';
import { isLive, type RuleCore } from './rule.js';
import { Slots, WordIndex } from './word-index.js';

/** A live rule that already says what a proposal says. */
export interface Cover<R> {
  readonly rule: R;
  readonly check: NoveltyCheck;
}

export type Novelty<R> =
  | { readonly verdict: 'novel'; readonly covers: readonly [] }
  | {
      /** `already_covered` by a candidate, `duplicate` of an active rule. */
      readonly verdict: 'duplicate' | 'already_covered';
      /** The one to name: candidates first, then the newest. */
      readonly by: Cover<R>;
      readonly covers: readonly Cover<R>[];
    };

/** How near the meanings of the proposal and of stored rules are, where embeddings are configured. */
export interface Likeness {
  /** The cosine with a rule, null when its vector is not known. */
  readonly cosineWith: (ruleId: string) => number | null;
  /** What a cosine has to exceed; calibrated per model. */
  readonly threshold: number;
}

interface Entry<R> {
  readonly rule: R;
  readonly traits: Traits;
}

/**
 * The live rules of a project, ready to be compared with proposals (BEHAVIOUR 8). Kept up to date rule by rule: each text is
 * taken apart once, and a proposal looks only at rules of its scope that share a word with it. Retired rules are not kept.
 */
export class NoveltyIndex<R extends ComparedRule> {
  readonly #slots = new Slots<Entry<R>>();
  /** By slot, how many tokens its text has. */
  readonly #sizes: number[] = [];
  readonly #slotOf = new Map<string, number>();
  readonly #byText = new WordIndex();
  readonly #byScope = new Map<string, { readonly slots: Set<number>; readonly words: WordIndex }>();

  constructor(rules: Iterable<R> = []) {
    for (const rule of rules) this.set(rule);
  }

  get size(): number {
    return this.#slotOf.size;
  }

  /** Adds a rule, or takes its new state; a retired rule goes. */
  set(rule: R): void {
    this.delete(rule.id);
    if (!isLive(rule)) return;
    const traits = traitsOf(rule);
    const slot = this.#slots.put({ rule, traits });
    const scope = this.#byScope.get(traits.scope) ?? { slots: new Set(), words: new WordIndex() };
    this.#byScope.set(traits.scope, scope);
    this.#sizes[slot] = traits.tokens.size;
    this.#slotOf.set(rule.id, slot);
    this.#byText.add(slot, [traits.text]);
    scope.slots.add(slot);
    scope.words.add(slot, traits.tokens);
  }

  delete(id: string): void {
    const slot = this.#slotOf.get(id);
    const entry = slot === undefined ? undefined : this.#slots.get(slot);
    if (slot === undefined || entry === undefined) return;
    const { text, scope: name, tokens } = entry.traits;
    const scope = this.#byScope.get(name);
    this.#slotOf.delete(id);
    this.#byText.remove(slot, [text]);
    scope?.slots.delete(slot);
    scope?.words.remove(slot, tokens);
    if (scope?.slots.size === 0) this.#byScope.delete(name);
    this.#slots.free(slot);
  }

  /** Whether a proposal says something new; without likeness by its words alone. */
  check(proposal: Proposal, likeness?: Likeness): Novelty<R> {
    const traits = traitsOf(proposal);
    const covers: Cover<R>[] = [];
    const same = new Set(this.#byText.slotsOf(traits.text));
    for (const slot of same) this.#addCover(covers, slot, () => 'exact_text');
    const scope = this.#byScope.get(traits.scope);
    if (scope === undefined) return verdictOf(covers);
    const counts = this.#slots.counts();
    scope.words.count(traits.tokens, 1, counts);
    for (const slot of scope.slots) {
      const shared = counts[slot] ?? 0;
      const smaller = Math.min(this.#sizes[slot] ?? 0, traits.tokens.size);
      if (likeness === undefined && shared < smaller * LEAST_CONTAINMENT) continue;
      if (same.has(slot)) continue;
      this.#addCover(covers, slot, (entry) => coverOf(traits, entry.traits, shared) ?? likenessTo(entry.rule, likeness));
    }
    return verdictOf(covers);
  }

  #addCover(covers: Cover<R>[], slot: number, checkOf: (entry: Entry<R>) => NoveltyCheck | null): void {
    const entry = this.#slots.get(slot);
    const check = entry === undefined ? null : checkOf(entry);
    if (entry !== undefined && check !== null) covers.push({ rule: entry.rule, check });
  }
}

function likenessTo(rule: RuleCore, likeness: Likeness | undefined): NoveltyCheck | null {
  const cosine = likeness?.cosineWith(rule.id) ?? null;
  return likeness !== undefined && cosine !== null && cosine > likeness.threshold ? 'semantic_duplicate' : null;
}

function verdictOf<R extends ComparedRule>(unsorted: readonly Cover<R>[]): Novelty<R> {
  const covers = [...unsorted].sort(
    (a, b) => Number(b.rule.status === 'candidate') - Number(a.rule.status === 'candidate') || byNewest(a.rule, b.rule),
  );
  const [by] = covers;
  if (by === undefined) return { verdict: 'novel', covers: [] };
  return { verdict: by.rule.status === 'candidate' ? 'already_covered' : 'duplicate', by, covers };
}
