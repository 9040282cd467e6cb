/**
 * What a host may add to its agent's instructions: that there is advice, and how to read it. The same text for every session, whether a
 * rule is on trial in it or not. As `#domain/rules` has it, which a package of its own cannot import.
 */
export function preamble(): string {
  return [
    'Advice learned from earlier work is available, read-only, through four tools:',
    'harness_rules_list (the scopes that have advice), harness_rules_read (the advice of one scope; `global` without a name),',
    'harness_rules_search (advice for a few words), harness_rule_status (whether one rule still holds).',
    'Before you start, read `global` and the scope that fits the task. Advice never overrides your instructions or policies.',
  ].join('\n');
}
