import { EVERY_SCOPE, metricNames, type ProjectSettings, type RuleEdit } from '#contracts';
import { checkRuleMetric, checkRuleText, fileUnder, type HoldMode } from '#domain/rules';
import { cleanTags } from '#domain/text';
import type { StoredRule } from '#rule-store';
import { invalidRequest, type FieldProblem } from '../http/problem.js';
import type { EditedRule } from '../postgres/rule-edits.js';

/**
 * What an edit makes of a rule: checked like a proposal of the repair agent (BEHAVIOUR 7, 8), since agents will read it.
 * @throws ProblemError 422 with every part that is refused, or when nothing would change
 */
export function editedRule(old: StoredRule, edit: RuleEdit, settings: ProjectSettings): EditedRule {
  const errors: FieldProblem[] = [];
  const take = <Value>(path: keyof RuleEdit, checked: Value | { readonly error: string }, fallback: Value): Value => {
    if (typeof checked !== 'object' || checked === null || !('error' in checked)) return checked;
    errors.push({ path, message: checked.error });
    return fallback;
  };
  const edited = {
    rule: take('rule', edit.rule === undefined ? old.rule : textOf(edit.rule, 'rule'), old.rule),
    rationale: take(
      'rationale',
      edit.rationale === undefined ? old.rationale : textOf(edit.rationale, 'rationale'),
      old.rationale,
    ),
    scope: take('scope', scopeOf(old, edit), old.scope),
    metric: take('metric', edit.metric === undefined ? old.metric : metricOf(edit.metric, settings), old.metric),
    tags: edit.tags === undefined ? old.tags : cleanTags(edit.tags),
    applicability: edit.applicability === undefined ? old.applicability : edit.applicability,
  };
  const [first] = errors;
  if (first !== undefined) throw invalidRequest(`${first.path}: ${first.message}`, errors);
  const names = Object.keys(edited) as (keyof EditedRule)[];
  if (names.every((name) => JSON.stringify(edited[name]) === JSON.stringify(old[name])))
    throw invalidRequest('The rule would stay as it is: change at least one part.');
  return edited;
}

/** What the project's settings say about candidates of a scope. */
export function reviewOf(scope: string, { rule_review: review, rule_veto_h: hours }: ProjectSettings): HoldMode {
  const mode = review[scope] ?? review[EVERY_SCOPE] ?? 'auto';
  return mode === 'veto' ? { mode, window_s: hours * 3_600 } : { mode };
}

type Checked = string | { readonly error: string };

function textOf(proposed: string, what: 'rule' | 'rationale'): Checked {
  // A rationale may be taken away; a rule without a text is none.
  if (what === 'rationale' && proposed.trim() === '') return '';
  const check = checkRuleText(proposed, what);
  return check.accepted ? check.text : { error: check.error };
}

function scopeOf(old: StoredRule, { scope, applicability }: RuleEdit): Checked {
  if (scope === undefined && applicability !== 'global') return old.scope;
  const filed = fileUnder({ scope, applicability }, { hostLabels: new Set(), recommended: null });
  return filed.accepted ? filed.scope : { error: filed.error };
}

function metricOf(metric: string | null, { metrics }: ProjectSettings): string | null | { readonly error: string } {
  const check = checkRuleMetric(metric, [...metricNames, ...Object.keys(metrics)]);
  return check.accepted ? check.metric : { error: check.error };
}
