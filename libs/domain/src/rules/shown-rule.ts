import { codePointLength, snippet } from '../text/index.js';
import type { RuleState } from './life-cycle.js';
import type { SearchableRule } from './search-index.js';

/** A rule as readers of a project need it. */
export type ReadableRule = SearchableRule &
  RuleState & {
    /** Where it comes from, for example its episode's id. */
    readonly source: string | null;
    /** The share of sessions that see it while it is a candidate: that of its whole trial, whatever the setting becomes. */
    readonly allocation: number;
    /** How far its trial is, where the reader is a person; agents' answers leave it out, since it changes with every session. */
    readonly trial?: { readonly observed: number; readonly needed: number | null };
  };

/** What an agent sees of a rule. Its metric, tags and signatures stay inside: they speak of the loop, not of the work. */
export interface ShownRule {
  readonly id: string;
  readonly rule: string;
  readonly rationale: string;
  readonly source: string | null;
  readonly trial?: ReadableRule['trial'];
}

export interface FoundRule {
  readonly id: string;
  readonly scope: string;
  readonly score: number;
  /** The beginning of the rule, 240 code points at most. */
  readonly snippet: string;
}

/** Active rules, and candidates apart under words that say what they are. */
export interface Answer<Shown> {
  readonly rules: readonly Shown[];
  readonly provisional: { readonly heading: string; readonly rules: readonly Shown[] } | null;
  /** Said when there is nothing to show, or more than is shown. */
  readonly note: string | null;
}

export const PROVISIONAL_HEADING = 'Provisional rules: on trial, not proven yet';

/** What an answer contained, or would have contained were it not withheld from this session: both count as exposure. */
export interface Exposure {
  readonly rule_ids: readonly string[];
  readonly withheld_ids: readonly string[];
}

export interface Reading<Result> {
  readonly answer: Result;
  readonly exposure: Exposure;
}

/** Who reads, and when. */
export interface Reader {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Whether this reader's arm of a trial does not see the rule. A reader without a session sees no candidate. */
  readonly withholds: (rule: Pick<ReadableRule, 'id' | 'status' | 'allocation'>) => boolean;
}

/** Who asks without a session is in no trial, and sees what is proven. */
export function withoutSession(now: number): Reader {
  return { now, withholds: ({ status }) => status === 'candidate' };
}

/** What one answer may hold. */
export interface Bounds {
  readonly rules: number;
  /** Code points of rules and rationales together; the first rule is shown whatever its length. */
  readonly text: number;
}

/** A model reads the answer: a hundred rules, or what fits into some ten thousand tokens. */
export const READ_BOUNDS: Bounds = { rules: 100, text: 40_000 };
/** For files, which people read. */
export const UNBOUNDED: Bounds = { rules: Infinity, text: Infinity };

/** The first rules that fit. */
export function withinBounds<R extends Pick<ReadableRule, 'rule' | 'rationale'>>(rules: readonly R[], bounds: Bounds): R[] {
  // Code units are never fewer than code points, and counting them costs nothing.
  const units = rules.slice(0, bounds.rules).reduce((sum, { rule, rationale }) => sum + rule.length + rationale.length, 0);
  if (units <= bounds.text) return rules.slice(0, bounds.rules);
  let text = 0;
  const fitting = rules.slice(0, bounds.rules).findIndex(({ rule, rationale }, at) => {
    text += codePointLength(rule) + codePointLength(rationale);
    return at > 0 && text > bounds.text;
  });
  return rules.slice(0, fitting === -1 ? bounds.rules : fitting);
}

/**
 * What a reader gets of the rules that were chosen for anyone. Choosing comes first and withholding after, so that what one
 * candidate's arm hides does not move another candidate in or out of the answer.
 */
export function answerFor<R extends ReadableRule, Shown>(
  chosen: readonly R[],
  { withholds }: Reader,
  show: (rule: R) => Shown,
): Reading<Pick<Answer<Shown>, 'rules' | 'provisional'>> {
  const withheld = new Set(chosen.filter(withholds));
  const seen = chosen.filter((rule) => !withheld.has(rule));
  const candidates = seen.filter(({ status }) => status === 'candidate');
  const provisional = candidates.length === 0 ? null : { heading: PROVISIONAL_HEADING, rules: candidates.map(show) };
  return {
    answer: { rules: seen.filter(({ status }) => status === 'active').map(show), provisional },
    exposure: { rule_ids: seen.map(({ id }) => id), withheld_ids: [...withheld].map(({ id }) => id) },
  };
}

export function shownRule({ id, rule, rationale, source, trial }: ReadableRule): ShownRule {
  return { id, rule, rationale, source, ...(trial === undefined ? {} : { trial }) };
}

export function foundRule({ id, scope, rule }: ReadableRule, score: number): FoundRule {
  return { id, scope, score, snippet: snippet(rule) };
}
