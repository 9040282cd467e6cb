import { randomBytes } from 'node:crypto';
import { ruleCandidate, ruleRetired } from '#contracts';
import { contentHash, derivedId } from '#domain/ids';
import { newCandidate, normalRuleText, type Applicability, type HoldMode } from '#domain/rules';
import type { Transaction, UnitOfWork } from '#persistence';
import { lockRules, setRulesVersion, type RuleDirectory, type StoredRule } from '#rule-store';
import { findRule, tell, tellOf } from './rule-changes.js';

/** The parts of a rule that an edit may change. */
export interface EditedRule {
  readonly rule: string;
  readonly rationale: string;
  readonly scope: string;
  readonly metric: string | null;
  readonly tags: readonly string[];
  readonly applicability: Applicability | null;
}

export interface EditRequest {
  readonly project: string;
  readonly who: string;
  readonly id: string;
}

/** What is to become of the rule that is there, or the error of the one who decided. */
export type EditDecision = (rule: StoredRule) => {
  readonly edited: EditedRule;
  readonly hold: HoldMode;
  readonly allocation: number;
};

export type Edited =
  | { readonly outcome: 'edited'; readonly id: string }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'retired' }
  | { readonly outcome: 'covered'; readonly by: StoredRule };

/** Edits: a new candidate takes a rule's place, in one transaction that has compared it with every other rule of the project. */
export class RuleEdits {
  constructor(
    private readonly work: UnitOfWork,
    private readonly rules: RuleDirectory,
  ) {}

  /** What `decide` throws ends the edit, and nothing is changed. */
  async edit(request: EditRequest, decide: EditDecision): Promise<Edited> {
    const { project, id } = request;
    return this.work.run(async (tx) => {
      const { next, now } = await lockRules(tx, project);
      const old = await findRule(tx, project, id);
      if (old === undefined) return { outcome: 'unknown' };
      if (old.status === 'retired') return { outcome: 'retired' };
      const { edited, hold, allocation } = decide(old);
      const known = await this.rules.within(project, (sql, parameters) => tx.query(sql, parameters));
      const proposal = { ...edited, failure_signatures: old.failure_signatures };
      const cover = known.novelty.check(proposal).covers.find(({ rule }) => rule.id !== old.id);
      if (cover !== undefined) return { outcome: 'covered', by: cover.rule };
      const fresh = `r-${randomBytes(8).toString('hex')}`;
      await replace(tx, { ...request, fresh, edited, hold, allocation, old, version: next, now });
      return { outcome: 'edited', id: fresh };
    });
  }
}

interface Replacement extends EditRequest {
  readonly allocation: number;
  readonly fresh: string;
  readonly edited: EditedRule;
  readonly hold: HoldMode;
  readonly old: StoredRule;
  readonly version: number;
  readonly now: number;
}

/** The old one first: both may have the same text, of which only one rule may be live. */
async function replace(tx: Transaction, replacement: Replacement): Promise<void> {
  const { project, who, id, fresh, old, edited, version } = replacement;
  const reason = `edited: ${fresh} takes its place`;
  await tx.query(
    `UPDATE rules.rules SET status = 'retired', retired_at = now(), retired_reason = $3, hold = NULL, held_until = NULL, seq = $4, changed_at = now()
     WHERE project = $1 AND id = $2 AND status <> 'retired'`,
    [project, id, reason, version],
  );
  await insert(tx, replacement);
  await setRulesVersion(tx, project, version);
  const episode = old.source;
  tell(tx, project, version);
  tellOf(tx, ruleRetired, { project, version, by: who, reason, rule: { id, scope: old.scope, episode } });
  tellOf(tx, ruleCandidate, { project, version, by: who, reason: null, rule: { id: fresh, scope: edited.scope, episode } });
  const journal = (type: string, rule: string, doc: object): void =>
    tx.journal({ id: derivedId(type, rule, version), project, type, rule, episode, doc: { by: who, version, ...doc } });
  journal('rule_retired', id, { scope: old.scope, reason });
  journal('rule_edited', fresh, { scope: edited.scope, edited_from: id });
}

async function insert(
  tx: Transaction,
  { project, who, id, fresh, edited, hold, allocation, version, now }: Replacement,
): Promise<void> {
  const state = newCandidate(hold, now);
  const held = state.status === 'candidate' ? state.hold : null;
  await tx.query(
    `INSERT INTO rules.rules (id, project, seq, rule, rationale, metric, tags, scope, scope_rationale, applicability, failure_signatures, source_notices,
       episode, edited_from, author, model, normal_hash, hold, held_until, allocation)
     SELECT $3, project, $4, $5, $6, $7, $8, $9, CASE WHEN scope = $9 THEN scope_rationale END, $10, failure_signatures, source_notices,
       episode, id, $11, NULL, $12, $13, to_timestamp($14::float8 / 1000), $15
     FROM rules.rules WHERE project = $1 AND id = $2`,
    [
      ...[project, id, fresh, version, edited.rule, edited.rationale, edited.metric, edited.tags, edited.scope],
      ...[edited.applicability, who, contentHash(normalRuleText(edited.rule)), held?.kind ?? null],
      held?.kind === 'veto' ? held.until : null,
      allocation,
    ],
  );
}
