import type { Read } from '#rule-store';
import { Injectable } from '@nestjs/common';
import type { Transaction } from '#persistence';
import { sentenceOf, type Verdict } from '../trials/sentence.js';
import type { TrialKind, TrialRule } from './trial-store.js';
import type { Sentence } from './verdict-store.js';

interface Waiting {
  readonly rule: string;
  readonly of: string;
  readonly kind: TrialKind;
  readonly project: string;
  readonly sentence: Sentence;
  readonly doc: Readonly<Record<string, unknown>>;
}

/** Trials that wait for something else than an observation. */
@Injectable()
export class TrialQueue {
  /** Delivered candidates, and promoted rules that some sessions do not see, of which nobody keeps count yet. */
  withoutTrial(read: Read): Promise<TrialRule[]> {
    return read<TrialRule>(
      `SELECT CASE r.status WHEN 'candidate' THEN r.id ELSE r.id || '~1' END AS rule, r.id AS of, CASE r.status WHEN 'candidate' THEN 'candidate' ELSE 'ablation' END AS kind, r.project, r.metric, r.allocation
       FROM rules.rules r WHERE r.hold IS NULL AND r.withdrawn_at IS NULL AND (r.status = 'candidate' OR (r.status = 'active' AND r.allocation < 1))
         AND NOT EXISTS (SELECT 1 FROM validation.trials t WHERE t.of = r.id AND t.kind = CASE r.status WHEN 'candidate' THEN 'candidate' ELSE 'ablation' END) ORDER BY r.id LIMIT 500`,
      [],
    );
  }

  async tooOld(read: Read): Promise<string[]> {
    const rows = await read<{ rule: string }>(
      `SELECT rule FROM validation.trials WHERE kind = 'candidate' AND NOT applied AND verdict IS NULL
         AND started_at + (settings ->> 'trial_max_days')::float8 * interval '1 day' <= clock_timestamp() ORDER BY rule LIMIT 100`,
      [],
    );
    return rows.map(({ rule }) => rule);
  }

  /** Verdicts whose rule was withdrawn or held when they fell, and is not any more. */
  async unexecuted(read: Read): Promise<Waiting[]> {
    const rows = await read<Omit<Waiting, 'sentence' | 'doc'> & { verdict: Verdict & Record<string, unknown> }>(
      `SELECT t.rule, t.of, t.kind, t.project, t.verdict FROM validation.trials t JOIN rules.rules r ON r.id = t.of
       WHERE NOT t.applied AND t.verdict IS NOT NULL AND (r.status = 'retired' OR (r.withdrawn_at IS NULL AND r.hold IS NULL)) ORDER BY t.rule LIMIT 100`,
      [],
    );
    return rows.flatMap(({ verdict, ...row }) => {
      const sentence = sentenceOf(verdict);
      return sentence === null ? [] : [{ ...row, sentence, doc: verdict }];
    });
  }

  /** Undecided trials of rules that an operator retired, or whose candidacy somebody else ended. */
  async stopped(read: Read): Promise<string[]> {
    const rows = await read<{ rule: string }>(
      `SELECT t.rule FROM validation.trials t JOIN rules.rules r ON r.id = t.of
       WHERE NOT t.applied AND t.verdict IS NULL AND r.status <> CASE t.kind WHEN 'candidate' THEN 'candidate' ELSE 'active' END ORDER BY t.rule LIMIT 100`,
      [],
    );
    return rows.map(({ rule }) => rule);
  }

  async stop(tx: Transaction, rules: readonly string[]): Promise<void> {
    await tx.query(
      `UPDATE validation.trials SET verdict = '{"verdict": "stopped", "reason": "retired by an operator"}', decided_at = now(), applied = true
       WHERE rule = ANY($1::text[]) AND verdict IS NULL`,
      [rules],
    );
    await tx.query(
      'UPDATE validation.trial_sessions SET check_at = NULL WHERE rule = ANY($1::text[]) AND outcome IS NULL AND check_at IS NOT NULL',
      [rules],
    );
  }
}
