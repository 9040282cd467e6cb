import { z } from 'zod';
import { pageQuery } from './http.js';

/** Times are integer microseconds since the epoch. */
const micros = z.int();
const TEXT_MAX = 8_000;
const REASON_MAX = 500;
const SCOPE_TEXT_MAX = 200;

export const ruleStatusNames = ['candidate', 'active', 'retired'] as const;

/** A rule with everything that is known of it. For operators: agents never see tags, metrics, or what is withheld from them. */
export const ruleRecord = z.object({
  id: z.string(),
  rule: z.string(),
  rationale: z.string(),
  metric: z.string().nullable(),
  tags: z.array(z.string()),
  scope: z.string(),
  scope_rationale: z.string().nullable(),
  applicability: z.string().nullable(),
  failure_signatures: z.array(z.string()),
  source_notices: z.array(z.string()),
  episode_id: z.string().nullable(),
  /** The rule that this one was made of by an edit. */
  edited_from: z.string().nullable(),
  /** `repair`, or the operator who edited. */
  author: z.string(),
  model: z.string().nullable(),
  status: z.enum(ruleStatusNames),
  /** Why a candidate is not on trial yet: it waits for a word (`approval`), or for an objection until `held_until` (`veto`). */
  hold: z.enum(['approval', 'veto']).nullable(),
  held_until: micros.nullable(),
  withdrawn_at: micros.nullable(),
  created_at: micros,
  changed_at: micros,
  promoted_at: micros.nullable(),
  retired_at: micros.nullable(),
  retired_reason: z.string().nullable(),
  /** The version of the project's rules at its last change. */
  version: z.int(),
  /** Reads and searches of named sessions whose answer held it. */
  exposures: z.int(),
});
export type RuleRecord = z.output<typeof ruleRecord>;

const flag = z.enum(['true', 'false']);

export const ruleRecordsQuery = pageQuery.extend({
  status: z.enum(ruleStatusNames).optional(),
  scope: z.string().max(SCOPE_TEXT_MAX).optional(),
  withdrawn: flag.optional().describe('true: only rules that are withdrawn; false: only those that are not.'),
});

export const candidatesQuery = pageQuery.extend({
  scope: z.string().max(SCOPE_TEXT_MAX).optional(),
  held: flag.optional().describe('true: only candidates that wait for an operator or an objection.'),
});

const reason = z.string().trim().min(1).max(REASON_MAX);

export const retireRuleRequest = z.strictObject({ reason });
export const withdrawRuleRequest = z.strictObject({ reason: reason.nullish() });

/** Null stands for what the field has no value of; what is left out stays as it is. */
export const editRuleRequest = z.strictObject({
  rule: z.string().max(TEXT_MAX).optional(),
  rationale: z.string().max(TEXT_MAX).optional(),
  scope: z.string().max(SCOPE_TEXT_MAX).optional(),
  metric: z.string().max(SCOPE_TEXT_MAX).nullable().optional(),
  tags: z.array(z.string().max(SCOPE_TEXT_MAX)).max(50).optional(),
  applicability: z.enum(['global', 'topical', 'task']).nullable().optional(),
});
export type RuleEdit = z.output<typeof editRuleRequest>;

/** What the kill switch is for: one scope, or all rules of the project. */
export const manyRulesRequest = z
  .strictObject({
    scope: z.string().min(1).max(SCOPE_TEXT_MAX).optional(),
    all: z.literal(true).optional(),
    reason: reason.nullish(),
  })
  .refine(({ scope, all }) => (scope === undefined) !== (all === undefined), { error: 'give either `scope`, or `all: true`' });

/** `version`: of the project's rules after it. No rules: there was nothing to change. */
export const manyRulesChanged = z.object({ version: z.int(), rule_ids: z.array(z.string()) });
export type ManyRulesChanged = z.output<typeof manyRulesChanged>;
