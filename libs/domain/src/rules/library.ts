import { firstCodePoints, scopeDescription } from '../text/index.js';
import { isDelivered, isHeld } from './life-cycle.js';
import { byScope, byStanding, firstOf } from './order.js';
import type { RuleStatus } from './rule.js';
import { SearchIndex } from './search-index.js';
import {
  answerFor,
  foundRule,
  READ_BOUNDS,
  shownRule,
  withinBounds,
  type Answer,
  type Bounds,
  type FoundRule,
  type ReadableRule,
  type Reader,
  type Reading,
  type ShownRule,
} from './shown-rule.js';

export interface ScopeEntry {
  readonly scope: string;
  readonly description: string;
  readonly active: number;
  readonly candidates: number;
}

/** What `harness_rules_list` answers: where there are rules, and none of their text. */
export interface ScopeList {
  readonly scopes: readonly ScopeEntry[];
  readonly note: string | null;
}

/** What `harness_rules_read` answers. */
export interface ScopeAnswer extends Answer<ShownRule> {
  readonly scope: string;
  readonly description: string;
}

/** What `harness_rules_search` answers, active rules and candidates each in the order of the ranking. */
export type SearchAnswer = Answer<FoundRule>;

/** What `harness_rule_status` answers. No text: asking for it is no exposure. */
export type StatusAnswer =
  | { readonly known: false; readonly id: string }
  | {
      readonly known: true;
      readonly id: string;
      readonly scope: string;
      readonly status: RuleStatus;
      readonly created_at: number;
    };

/** Narrows a scope to what matters for a query. */
export interface Narrowing {
  readonly query: string;
  readonly limit: number;
}

/** Scopes that one list names; search finds what is in the others. */
export const LIST_MAX = 200;
export const SEARCH_MAX = 50;
export const SEARCH_DEFAULT = 10;
/** Code points of a query that are looked at. */
const QUERY_MAX = 1000;

const NO_RULES = 'No rules here.';
const SEARCH_HINT = 'search for them with harness_rules_search';

/**
 * The rules of a project as its agents read them (BEHAVIOUR 9; EVIDENCE, "Delivery"), kept up to date rule by rule. Reads never
 * show retired, withdrawn or held rules. The list is the same for every reader; what is withheld from a reader's arm is missing
 * in the answers of `read` and `search` only.
 */
export class RuleLibrary<R extends ReadableRule> {
  readonly #index = new SearchIndex<R>();
  readonly #scopes = new Map<string, Map<string, R>>();
  readonly #descriptions = new Map<string, string>();
  /** The whole list as it was last made. Everybody asks for it and rules change seldom. */
  #listed: { readonly entries: readonly ScopeEntry[]; readonly from: number; readonly until: number } | undefined;

  constructor(rules: Iterable<R> = []) {
    for (const rule of rules) this.set(rule);
  }

  set(rule: R): void {
    this.delete(rule.id);
    this.#listed = undefined;
    const scope = this.#scopes.get(rule.scope) ?? new Map<string, R>();
    this.#scopes.set(rule.scope, scope);
    scope.set(rule.id, rule);
    this.#index.set(rule);
  }

  delete(id: string): void {
    const rule = this.#index.get(id);
    if (rule === undefined) return;
    this.#index.delete(id);
    this.#listed = undefined;
    const scope = this.#scopes.get(rule.scope);
    scope?.delete(id);
    if (scope?.size === 0) this.#scopes.delete(rule.scope);
  }

  /** What a host says a scope is for. */
  describe(scope: string, description: string): void {
    this.#descriptions.set(scope, description);
    this.#listed = undefined;
  }

  list(now: number, most = LIST_MAX): ScopeList {
    const all = this.#entries(now);
    const scopes = all.slice(0, most);
    const more = all.length - scopes.length;
    return { scopes, note: all.length === 0 ? NO_RULES : more === 0 ? null : `${more} more scope(s): ${SEARCH_HINT}` };
  }

  read(
    scope: string,
    reader: Reader,
    options: { bounds?: Bounds; narrowing?: Narrowing | undefined } = {},
  ): Reading<ScopeAnswer> {
    const { bounds = READ_BOUNDS, narrowing } = options;
    const readable = [...(this.#scopes.get(scope)?.values() ?? [])].filter((rule) => isDelivered(rule, reader.now));
    const wanted = narrowing === undefined ? readable : narrowed(readable, narrowing);
    const chosen = withinBounds(firstOf(wanted, bounds.rules, byStanding), bounds);
    const { answer, exposure } = answerFor(chosen, reader, shownRule);
    const left = { active: countOf(readable, 'active') - countOf(chosen, 'active'), all: readable.length - chosen.length };
    const note = left.all > 0 ? omitted(left) : isEmpty(answer) ? NO_RULES : null;
    return { answer: { scope, description: this.#describe(scope), ...answer, note }, exposure };
  }

  /** @param limit 1 to 50 rules over both lists; what is out of range is held to it */
  search(query: string, reader: Reader, limit = SEARCH_DEFAULT): Reading<SearchAnswer> {
    const most = Math.min(SEARCH_MAX, Math.max(1, Math.trunc(limit)));
    const ranked = this.#index.rank(firstCodePoints(query, QUERY_MAX), most, (rule) => isDelivered(rule, reader.now));
    const scores = new Map(ranked.map(({ rule, score }) => [rule.id, score]));
    const chosen = ranked.map(({ rule }) => rule);
    const { answer, exposure } = answerFor(chosen, reader, (rule) => foundRule(rule, scores.get(rule.id) ?? 0));
    return { answer: { ...answer, note: isEmpty(answer) ? NO_RULES : null }, exposure };
  }

  /** A rule that this reader cannot read answers as an unknown id; a retired one says that it is retired. */
  status(id: string, reader: Reader): StatusAnswer {
    const rule = this.#index.get(id);
    if (rule === undefined || rule.withdrawn_at !== null || isHeld(rule, reader.now) || reader.withholds(rule))
      return { known: false, id };
    return { known: true, id, scope: rule.scope, status: rule.status, created_at: rule.created_at };
  }

  /** Time alone changes it only where a candidate's hold ends. */
  #entries(now: number): readonly ScopeEntry[] {
    const known = this.#listed;
    if (known !== undefined && known.from <= now && now < known.until) return known.entries;
    const entries = [...this.#scopes].flatMap(([scope, rules]) => this.#entryOf(scope, rules, now));
    entries.sort((a, b) => byScope(a.scope, b.scope));
    this.#listed = { entries, from: now, until: this.#nextRelease(now) };
    return entries;
  }

  /** When the first hold ends by itself. */
  #nextRelease(now: number): number {
    let first = Infinity;
    for (const rule of this.#index.rules())
      if (rule.status === 'candidate' && rule.hold?.kind === 'veto' && rule.hold.until > now)
        first = Math.min(first, rule.hold.until);
    return first;
  }

  #entryOf(scope: string, rules: ReadonlyMap<string, R>, now: number): ScopeEntry[] {
    const readable = [...rules.values()].filter((rule) => isDelivered(rule, now));
    if (readable.length === 0) return [];
    const active = countOf(readable, 'active');
    return [{ scope, description: this.#describe(scope), active, candidates: readable.length - active }];
  }

  #describe(scope: string): string {
    return scopeDescription(scope, this.#descriptions.get(scope));
  }
}

/** Candidates stay: a query narrows what is proven, and what is on trial has to be seen to be tried. */
function narrowed<R extends ReadableRule>(rules: readonly R[], { query, limit }: Narrowing): R[] {
  const relevant = new SearchIndex(rules).relevant(query, limit);
  return [...relevant, ...rules.filter(({ status }) => status === 'candidate')];
}

function countOf(rules: readonly ReadableRule[], status: RuleStatus): number {
  return rules.filter((rule) => rule.status === status).length;
}

function isEmpty({ rules, provisional }: Pick<Answer<unknown>, 'rules' | 'provisional'>): boolean {
  return rules.length === 0 && provisional === null;
}

function omitted({ active, all }: { readonly active: number; readonly all: number }): string {
  const parts = [
    ...(active > 0 ? [`${active} more active rule(s)`] : []),
    ...(all > active ? [`${all - active} more provisional rule(s)`] : []),
  ];
  return `${parts.join(' and ')} available: ${SEARCH_HINT}`;
}
