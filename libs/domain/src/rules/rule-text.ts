import { sanitize, SANITIZED_MAX, snippet } from '../text/index.js';
import { lintRule, type LintFinding } from './lint.js';

/** Code points that a rule, and its rationale, may have. */
export const RULE_TEXT_MAX = SANITIZED_MAX;

export type RuleTextCheck =
  | { readonly accepted: true; readonly text: string }
  | { readonly accepted: false; readonly error: string; readonly findings: readonly LintFinding[] };

/**
 * A proposed rule's text as it would be stored: sanitised, cut to its bound, linted. Refusals say what to write instead.
 * @param what how the refusal names the text
 */
export function checkRuleText(proposed: string, what: 'rule' | 'rationale' | 'scope_rationale' = 'rule'): RuleTextCheck {
  const text = sanitize(proposed, { maxLength: RULE_TEXT_MAX });
  if (text.trim() === '') return { accepted: false, error: `${what} text must not be empty`, findings: [] };
  const findings = lintRule(text);
  const [first] = findings;
  if (first === undefined) return { accepted: true, text };
  return { accepted: false, error: `${what} text refused ("${snippet(first.found, 80)}"): ${first.reason}`, findings };
}
