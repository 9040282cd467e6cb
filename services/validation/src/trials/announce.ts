import { ruleChanged, rulePromoted, ruleRetired } from '#contracts';
import { derivedId, sessionToken } from '#domain/ids';
import type { Transaction } from '#persistence';
import type { Execution, Sentence } from '../postgres/verdict-store.js';

/** Tells operators what became of a candidate, agents' caches that they are out of date, and the journal why. */
export function announceVerdict(
  tx: Transaction,
  { rule, project, sentence, doc }: { rule: string; project: string; sentence: Sentence; doc: Readonly<Record<string, unknown>> },
  { version, scope, episode }: Extract<Execution, { done: true }>,
): void {
  const event = sentence.kind === 'promote' ? rulePromoted : ruleRetired;
  const reason = sentence.kind === 'promote' ? null : sentence.reason;
  tx.emit({
    event,
    id: derivedId(event.type, rule),
    project,
    tail: [sessionToken(scope)],
    payload: { rule_id: rule, scope, version, by: 'validation', reason, episode_id: episode },
  });
  tx.emit({ event: ruleChanged, id: derivedId(ruleChanged.type, project, version), project, payload: { version } });
  tx.journal({
    id: derivedId(event.type, rule),
    project,
    type: sentence.kind === 'promote' ? 'rule_promoted' : 'rule_retired',
    episode,
    rule,
    doc: { validator: 'trial', reason, version, ...doc },
  });
}
