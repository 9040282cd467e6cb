import { sanitize, tokenSet } from '../text/index.js';
import { fileUnder, filingContext } from './filing.js';
import { NoveltyIndex } from './novelty-index.js';
import { normalRuleText, overlapOf, type ComparedRule, type Overlap, type Proposal } from './novelty.js';
import { byScope, byStanding } from './order.js';
import { failureSignatures, ruleTags } from './provenance.js';
import { isLive } from './rule.js';
import { normalizeScope, normalizeScopeOrNull, readableScope, type ScopeCheck } from './scope.js';
import { SearchIndex, type SearchableRule } from './search-index.js';

const HOST = [{ benchmark: 'appworld', integration: 'tau2', host: 'My Host' }];

/** The situations that `scope.jsonl` asks about. */
const CONTEXTS = {
  plain: filingContext([], []),
  host_labels: filingContext([], HOST),
  host_labels_hint_payments: filingContext(['payments'], HOST),
  host_labels_hint_appworld: filingContext(['appworld'], HOST),
  hint_global: filingContext(['global'], HOST),
};
export type ScopeContext = keyof typeof CONTEXTS;
export const scopeContexts = Object.keys(CONTEXTS) as readonly ScopeContext[];

/** One parsed line of `scope.jsonl`, without its answers. */
export interface ScopeLine {
  readonly input: string | null;
  /** Only this situation; all of them without. */
  readonly context?: ScopeContext;
}

/** Answers one line of `scope.jsonl`, under the names of the file. */
export function answerScopeLine({ input, context }: ScopeLine): object {
  const asked = context === undefined ? scopeContexts : [context];
  const forms = {
    normalize: normalizeScope(input),
    normalize_or_none: normalizeScopeOrNull(input),
    repair_add: Object.fromEntries(asked.map((one) => [one, fileUnder({ scope: input }, CONTEXTS[one])])),
  };
  if (input === null) return forms;
  const readable = readableScope(input);
  return {
    ...forms,
    validate: readable.accepted ? { accepted: true, value: readable.scope } : readable,
    repair_add_applicability_global: fileUnder({ scope: input, applicability: 'global' }, CONTEXTS.plain),
    task_read: withNulls(readable),
    hint_key: normalizeScope(input),
  };
}

function withNulls(check: ScopeCheck): object {
  return { scope: null, error: null, ...check };
}

/** A rule as the lines have it: times as text. */
type Dated<R> = Omit<R, 'created_at'> & { readonly created_at: string };

/** One parsed line of `novelty.jsonl`, without its answers. */
export interface NoveltyLine {
  readonly existing: readonly Dated<ComparedRule>[];
  readonly proposal: Proposal;
}

/** Answers one line of `novelty.jsonl`, under the names of the file. */
export function answerNoveltyLine({ existing, proposal }: NoveltyLine): object {
  const rules = existing.map(dated);
  const similarity = rules.map((rule) => ({ id: rule.id, ...namedOverlap(rule.rule, proposal.rule) }));
  const text = sanitize(proposal.rule);
  if (text.trim() === '') {
    const error = 'rule text must not be empty';
    return { verdict: 'error', error, covering: [], similarity, add_without_similarity: { created: false, error } };
  }
  const novelty = new NoveltyIndex(rules).check(proposal);
  const answer = {
    verdict: novelty.verdict,
    covering: novelty.covers.map(({ rule, check }) => ({ id: rule.id, check })),
    similarity,
    add_without_similarity: exactOnly(rules, text),
  };
  if (novelty.verdict !== 'novel') return { ...answer, matched_rule_id: novelty.by.rule.id, check: novelty.by.check };
  // What the lines say of the notice behind them: its severity and the proposal's signatures, no metric and no signal.
  const notice = { signatures: proposal.failure_signatures, metrics: [], severity: 'breach', signals: [] } as const;
  return {
    ...answer,
    stored_rule: text,
    stored_scope: normalizeScope(proposal.scope),
    stored_tags: ruleTags(proposal.tags, [{ ...notice, signatures: failureSignatures([notice]) }]),
  };
}

function dated<R extends { created_at: string }>(rule: R): Omit<R, 'created_at'> & { created_at: number } {
  const at = Date.parse(rule.created_at);
  if (Number.isNaN(at)) throw new TypeError(`created_at: a time is needed, not ${JSON.stringify(rule.created_at)}`);
  return { ...rule, created_at: at };
}

function namedOverlap(existing: string, proposed: string): Overlap & { tokens_existing: number; tokens_proposal: number } {
  const [theirs, ours] = [tokenSet(existing), tokenSet(proposed)];
  const shared = [...ours].filter((token) => theirs.has(token)).length;
  return { ...overlapOf(shared, theirs.size, ours.size), tokens_existing: theirs.size, tokens_proposal: ours.size };
}

/** What the store alone would say: the oldest live rule with the very text. */
function exactOnly(rules: readonly ComparedRule[], text: string): { created: boolean; matched_rule_id: string | null } {
  const normal = normalRuleText(text);
  const same = rules.filter((rule) => isLive(rule) && normalRuleText(rule.rule) === normal);
  const [oldest] = same.sort((a, b) => a.created_at - b.created_at);
  return { created: oldest === undefined, matched_rule_id: oldest?.id ?? null };
}

/** One parsed line of `search.jsonl`, without its answers. */
export interface SearchLine {
  readonly rules: readonly Dated<SearchableRule>[];
  readonly query: string;
  readonly limit: number;
  /** Scopes to list besides those that have live rules. */
  readonly scopes_asked?: readonly string[];
}

/** Answers one line of `search.jsonl`, under the names of the file. */
export function answerSearchLine({ rules, query, limit, scopes_asked: asked = [] }: SearchLine): object {
  const index = new SearchIndex(rules.map(dated));
  const ranked = (isAskedFor: (rule: SearchableRule) => boolean): [string, number][] =>
    index.rank(query, limit, isAskedFor).map(({ rule, score }) => [rule.id, score]);
  const live = [...index.rules()].filter(isLive);
  const scopes = [...new Set(live.map(({ scope }) => scope))].sort(byScope);
  const inScope = (scope: string): string[] =>
    live
      .filter((rule) => rule.scope === scope)
      .sort(byStanding)
      .map(({ id }) => id);
  return {
    search_live: ranked(isLive),
    search_active: ranked(({ status }) => status === 'active'),
    relevant: index.relevant(query, limit).map(({ id }) => id),
    scopes,
    by_scope: Object.fromEntries([...new Set([...scopes, ...asked])].sort(byScope).map((scope) => [scope, inScope(scope)])),
  };
}
