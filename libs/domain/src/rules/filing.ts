import { recommendedScope } from '../episodes/index.js';
import type { Applicability } from './rule.js';
import { GLOBAL_SCOPE, isExpressed, normalizeScopeOrNull, SCOPED_SCOPE, type ScopeCheck } from './scope.js';

/** Where the one who proposes a rule wants it. */
export interface ScopeChoice {
  readonly scope?: string | null | undefined;
  readonly applicability?: Applicability | null | undefined;
}

/** What the episode says about it. */
export interface FilingContext {
  /** Names of the whole host, in normal form: as a scope they would hold everything. */
  readonly hostLabels: ReadonlySet<string>;
  /** The host's precise recommendation, in normal form; null when it made none. */
  readonly recommended: string | null;
}

const LABEL_FIELDS = ['benchmark', 'integration', 'host'] as const;

/** The generic labels of a host, from the end states of an episode's turns, in normal form. */
export function hostLabels(endStates: readonly unknown[]): Set<string> {
  const labels = new Set<string>();
  for (const state of endStates) {
    if (typeof state !== 'object' || state === null) continue;
    for (const field of LABEL_FIELDS) {
      const value = (state as Record<string, unknown>)[field];
      const label = typeof value === 'string' ? normalizeScopeOrNull(value) : null;
      if (label !== null) labels.add(label);
    }
  }
  // A host that calls itself "global" must not make the default scope unusable.
  labels.delete(GLOBAL_SCOPE);
  labels.delete(SCOPED_SCOPE);
  return labels;
}

/** The first recommendation, in the order of the notices' ids, that names something narrower than the host; else null. */
export function preciseRecommendation(recommendations: readonly (string | null)[], labels: ReadonlySet<string>): string | null {
  return recommendedScope(recommendations.map(normalizeScopeOrNull), labels);
}

/** Everything that decides where the rules of an episode may be filed. */
export function filingContext(recommendations: readonly (string | null)[], endStates: readonly unknown[]): FilingContext {
  const labels = hostLabels(endStates);
  return { hostLabels: labels, recommended: preciseRecommendation(recommendations, labels) };
}

/**
 * The scope that a proposed rule is filed under (BEHAVIOUR 7), or why the proposal goes back to who made it. A path is
 * never made into a name. A hint informs only: a name that was chosen stands against any recommendation.
 */
export function fileUnder(choice: ScopeChoice, context: FilingContext): ScopeCheck {
  if (choice.applicability === 'global') return filed(GLOBAL_SCOPE);
  if (!isExpressed(choice.scope)) return filed(context.recommended ?? GLOBAL_SCOPE);
  if (/[/\\]|\.\./.test(choice.scope)) return refused('invalid rule scope: supply one plain name, not a path');
  const scope = normalizeScopeOrNull(choice.scope);
  if (scope === null) return refused("invalid rule scope: use letters, digits, '.', '-' or '_'");
  return filed(context.hostLabels.has(scope) ? (context.recommended ?? SCOPED_SCOPE) : scope);
}

const filed = (scope: string): ScopeCheck => ({ accepted: true, scope });
const refused = (error: string): ScopeCheck => ({ accepted: false, error });
