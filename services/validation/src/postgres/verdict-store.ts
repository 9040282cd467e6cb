import { Injectable } from '@nestjs/common';
import type { Transaction } from '#persistence';
import { lockRules, setRulesVersion } from '#rule-store';

/** A verdict that changes a rule. */
export type Sentence = { readonly kind: 'promote' } | { readonly kind: 'retire'; readonly reason: string };

/** `paused`: the rule is withdrawn or held, and its trial with it. `gone`: somebody else has ended its candidacy. */
export type Execution =
  | { readonly done: true; readonly version: number; readonly scope: string; readonly episode: string | null }
  | { readonly done: false; readonly because: 'paused' | 'gone' };

/** `from`: what the rule has to be now. `allocation`: the share of sessions that see it once it is promoted. */
export interface Sentenced {
  readonly rule: string;
  readonly project: string;
  readonly from: 'candidate' | 'active';
  readonly sentence: Sentence;
  readonly allocation: number;
}

@Injectable()
export class VerdictStore {
  /** Changes a rule by the verdict of its trial, under the lock of its project's rules. */
  async execute(tx: Transaction, { rule, project, from, sentence, allocation }: Sentenced): Promise<Execution> {
    const { next: version } = await lockRules(tx, project);
    const [changed] = await tx.query<{ scope: string; episode: string | null }>(
      sentence.kind === 'promote'
        ? `UPDATE rules.rules SET status = 'active', promoted_at = now(), changed_at = now(), seq = $2, allocation = $4 WHERE id = $1 AND status = $3 AND ${DELIVERED} RETURNING scope, episode`
        : `UPDATE rules.rules SET status = 'retired', retired_at = now(), retired_reason = $4, changed_at = now(), seq = $2 WHERE id = $1 AND status = $3 AND ${DELIVERED} RETURNING scope, episode`,
      [rule, version, from, sentence.kind === 'promote' ? allocation : sentence.reason],
    );
    if (changed !== undefined) {
      await setRulesVersion(tx, project, version);
      return { done: true, version, ...changed };
    }
    const [now] = await tx.query<{ status: string }>('SELECT status FROM rules.rules WHERE id = $1', [rule]);
    return { done: false, because: now?.status === from ? 'paused' : 'gone' };
  }

  /** The trial is over for good: nobody looks at its sessions again. */
  async close(tx: Transaction, rule: string): Promise<void> {
    await tx.query('UPDATE validation.trials SET applied = true WHERE rule = $1', [rule]);
    await tx.query(
      'UPDATE validation.trial_sessions SET check_at = NULL WHERE rule = $1 AND outcome IS NULL AND check_at IS NOT NULL',
      [rule],
    );
  }
}

const DELIVERED = 'withdrawn_at IS NULL AND hold IS NULL';
