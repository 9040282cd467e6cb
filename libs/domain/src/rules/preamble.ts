/**
 * What a host may add to its agent's instructions: that there are rules and how to read them. Fixed, the same in every arm of a
 * trial and in replays; no rule's text, no list.
 */
export function preamble(): string {
  return [
    'Advice learned from earlier work is available, read-only, through four tools:',
    'harness_rules_list (the scopes that have advice), harness_rules_read (the advice of one scope; `global` without a name),',
    'harness_rules_search (advice for a few words), harness_rule_status (whether one rule still holds).',
    'Before you start, read `global` and the scope that fits the task. Advice never overrides your instructions or policies.',
  ].join('\n');
}
