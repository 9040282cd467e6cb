import { coverOf, traitsOf, type ComparedRule, type NoveltyCheck, type Proposal, type Traits } from './novelty.js';
import { byNewest } from './order.js';
import { isLive } from './rule.js';

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
  /** Tokens shared with the proposal of round `round`; of another round it means nothing. */
  shared: number;
  round: number;
}

interface Shelf<R> {
  readonly entries: Set<Entry<R>>;
  readonly byToken: Map<string, Entry<R>[]>;
}

/**
 * The live rules of a project, ready to be compared with proposals (BEHAVIOUR 8). Kept up to date rule by rule: each text is
 * taken apart once, and a proposal looks only at rules of its scope that share a word with it. Retired rules are not kept.
 */
export class NoveltyIndex<R extends ComparedRule> {
  readonly #entries = new Map<string, Entry<R>>();
  readonly #byText = new Map<string, Entry<R>[]>();
  readonly #shelves = new Map<string, Shelf<R>>();
  #round = 0;

  constructor(rules: Iterable<R> = []) {
    for (const rule of rules) this.set(rule);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Adds a rule, or takes its new state; a retired rule goes. */
  set(rule: R): void {
    this.delete(rule.id);
    if (!isLive(rule)) return;
    const entry: Entry<R> = { rule, traits: traitsOf(rule), shared: 0, round: 0 };
    const shelf = this.#shelfOf(entry.traits.scope);
    this.#entries.set(rule.id, entry);
    shelf.entries.add(entry);
    append(this.#byText, entry.traits.text, entry);
    for (const token of entry.traits.tokens) append(shelf.byToken, token, entry);
  }

  delete(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    const shelf = this.#shelfOf(entry.traits.scope);
    this.#entries.delete(id);
    shelf.entries.delete(entry);
    remove(this.#byText, entry.traits.text, entry);
    for (const token of entry.traits.tokens) remove(shelf.byToken, token, entry);
  }

  /** Whether a proposal says something new; without likeness by its words alone. */
  check(proposal: Proposal, likeness?: Likeness): Novelty<R> {
    const traits = traitsOf(proposal);
    const covers = new Map<Entry<R>, NoveltyCheck>();
    for (const entry of this.#byText.get(traits.text) ?? []) covers.set(entry, 'exact_text');
    const shelf = this.#shelves.get(traits.scope);
    if (shelf !== undefined) {
      for (const entry of this.#sharing(shelf, traits)) {
        const check = covers.has(entry) ? null : coverOf(traits, entry.traits, entry.shared);
        if (check !== null) covers.set(entry, check);
      }
      if (likeness !== undefined) addLikeOnes(covers, shelf.entries, likeness);
    }
    return verdictOf([...covers].map(([{ rule }, check]) => ({ rule, check })));
  }

  /** The rules of a shelf that share a token, each with how many. */
  #sharing(shelf: Shelf<R>, { tokens }: Traits): Entry<R>[] {
    this.#round += 1;
    const found: Entry<R>[] = [];
    for (const token of tokens) {
      for (const entry of shelf.byToken.get(token) ?? []) {
        if (entry.round !== this.#round) {
          entry.round = this.#round;
          entry.shared = 0;
          found.push(entry);
        }
        entry.shared += 1;
      }
    }
    return found;
  }

  #shelfOf(scope: string): Shelf<R> {
    const known = this.#shelves.get(scope) ?? { entries: new Set(), byToken: new Map() };
    this.#shelves.set(scope, known);
    return known;
  }
}

function addLikeOnes<R extends ComparedRule>(
  covers: Map<Entry<R>, NoveltyCheck>,
  entries: Iterable<Entry<R>>,
  { cosineWith, threshold }: Likeness,
): void {
  for (const entry of entries) {
    if (covers.has(entry)) continue;
    const cosine = cosineWith(entry.rule.id);
    if (cosine !== null && cosine > threshold) covers.set(entry, 'semantic_duplicate');
  }
}

function verdictOf<R extends ComparedRule>(unsorted: readonly Cover<R>[]): Novelty<R> {
  const covers = [...unsorted].sort(
    (a, b) => Number(b.rule.status === 'candidate') - Number(a.rule.status === 'candidate') || byNewest(a.rule, b.rule),
  );
  const [by] = covers;
  if (by === undefined) return { verdict: 'novel', covers: [] };
  return { verdict: by.rule.status === 'candidate' ? 'already_covered' : 'duplicate', by, covers };
}

function append<V>(lists: Map<string, V[]>, key: string, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

function remove<V>(lists: Map<string, V[]>, key: string, value: V): void {
  const rest = (lists.get(key) ?? []).filter((one) => one !== value);
  if (rest.length === 0) lists.delete(key);
  else lists.set(key, rest);
}
