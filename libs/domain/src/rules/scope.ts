import { caseFold, collapseWhiteSpace, firstCodePoints } from '../text/index.js';

/** Advice that holds for every task; where a rule goes when nobody chose. */
export const GLOBAL_SCOPE = 'global';
/** Advice for a situation that has no name of its own; never chosen by silence. */
export const SCOPED_SCOPE = 'scoped';
/** Characters of a scope. */
export const SCOPE_MAX = 48;

const OUTSIDE_OF_NAMES = /[^a-z0-9._-]+/g;

/**
 * A scope's name in normal form: case-folded, every run of characters outside `a-z 0-9 . _ -` one `-`, none of `-._` at
 * the ends, 48 characters at most. Null when nothing is left. Idempotent: what a cut leaves at the end is stripped too.
 */
export function normalizeScopeOrNull(name: string | null | undefined): string | null {
  if (name === null || name === undefined) return null;
  const slug = caseFold(name)
    .replace(OUTSIDE_OF_NAMES, '-')
    .replace(/^[-._]+/, '');
  // Cut before the end is stripped: the search for an end is then over 48 characters, whatever was sent.
  const normal = firstCodePoints(slug, SCOPE_MAX).replace(/[-._]+$/, '');
  return normal === '' ? null : normal;
}

/** As `normalizeScopeOrNull`, with `global` for a name that leaves nothing. Also the form of a host's hint. */
export function normalizeScope(name: string | null | undefined): string {
  return normalizeScopeOrNull(name) ?? GLOBAL_SCOPE;
}

/** Whether somebody chose at all: null, empty and white space are silence. */
export function isExpressed(name: string | null | undefined): name is string {
  return name !== null && name !== undefined && collapseWhiteSpace(name) !== '';
}

export type ScopeCheck =
  { readonly accepted: true; readonly scope: string } | { readonly accepted: false; readonly error: string };

/** What an agent that reads may name: exactly a name in its normal form; none means `global`. Nothing is repaired for it. */
export function readableScope(name: string | null | undefined): ScopeCheck {
  if (name === null || name === undefined) return { accepted: true, scope: GLOBAL_SCOPE };
  if (normalizeScopeOrNull(name) === name) return { accepted: true, scope: name };
  return { accepted: false, error: 'invalid rule scope: name one exactly as harness_rules_list shows it' };
}
