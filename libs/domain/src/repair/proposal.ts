import type { ScopeHint } from '#contracts';
import { contentHash } from '../ids/index.js';
import {
  checkRuleMetric,
  checkRuleText,
  failureSignatures,
  fileUnder,
  normalizeScopeOrNull,
  normalRuleText,
  ruleTags,
  type Applicability,
  type FilingContext,
  type NoticeMarks,
} from '../rules/index.js';
import { sanitize, scopeDescription } from '../text/index.js';

/** A rule as the model proposes it. */
export interface ProposedRule {
  readonly rule: string;
  readonly rationale: string;
  readonly metric?: string | null | undefined;
  readonly tags?: readonly string[] | null | undefined;
  readonly scope?: string | null | undefined;
  readonly scope_rationale?: string | null | undefined;
  readonly applicability?: Applicability | null | undefined;
}

/** What the episode and the project say about it. */
export interface ProposalContext {
  readonly filing: FilingContext;
  readonly knownMetrics: readonly string[];
  readonly notices: readonly NoticeMarks[];
  readonly hints: readonly ScopeHint[];
}

/** A rule as it would be stored. */
export interface RuleDraft {
  readonly rule: string;
  readonly rationale: string;
  readonly metric: string | null;
  readonly tags: readonly string[];
  readonly scope: string;
  readonly scope_rationale: string | null;
  /** What the host says the scope is for; null where it says nothing. */
  readonly scope_description: string | null;
  readonly applicability: Applicability | null;
  readonly failure_signatures: readonly string[];
  /** Of the text as it is compared for equality. */
  readonly normal_hash: string;
}

export type Drafted =
  { readonly accepted: true; readonly draft: RuleDraft } | { readonly accepted: false; readonly error: string };

/** A proposal as it would be stored, or why it goes back to the model: metric, scope, then every text of it. */
export function draftRule(proposed: ProposedRule, context: ProposalContext): Drafted {
  const metric = checkRuleMetric(proposed.metric, context.knownMetrics);
  if (!metric.accepted) return metric;
  const filed = fileUnder(proposed, context.filing);
  if (!filed.accepted) return filed;
  const rule = checkRuleText(proposed.rule);
  if (!rule.accepted) return { accepted: false, error: rule.error };
  const rationale = checkRuleText(proposed.rationale, 'rationale');
  if (!rationale.accepted) return { accepted: false, error: rationale.error };
  const why = scopeRationale(proposed.scope_rationale);
  if (!why.accepted) return why;
  return {
    accepted: true,
    draft: {
      ...{ rule: rule.text, rationale: rationale.text, metric: metric.metric, scope: filed.scope, scope_rationale: why.text },
      tags: ruleTags(
        (proposed.tags ?? []).map((tag) => sanitize(tag)),
        context.notices,
      ),
      scope_description: hostDescription(filed.scope, context.hints),
      applicability: proposed.applicability ?? null,
      failure_signatures: failureSignatures(context.notices),
      normal_hash: contentHash(normalRuleText(rule.text)),
    },
  };
}

type CheckedWhy =
  { readonly accepted: true; readonly text: string | null } | { readonly accepted: false; readonly error: string };

function scopeRationale(proposed: string | null | undefined): CheckedWhy {
  if (proposed === null || proposed === undefined || proposed.trim() === '') return { accepted: true, text: null };
  const checked = checkRuleText(proposed, 'scope_rationale');
  return checked.accepted ? checked : { accepted: false, error: checked.error };
}

function hostDescription(scope: string, hints: readonly ScopeHint[]): string | null {
  const hint = hints.find(({ key, description }) => normalizeScopeOrNull(key) === scope && (description ?? '').trim() !== '');
  return hint === undefined ? null : scopeDescription(scope, hint.description);
}
