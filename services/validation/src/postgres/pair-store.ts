import type { Read } from '#rule-store';
import { Injectable } from '@nestjs/common';
import type { CaseKind, RunEnd } from '#domain/evidence';
import type { Transaction } from '#persistence';
import type { TrialCases } from './case-store.js';

/** A candidate on trial that may be replayed. */
export interface ReplayableTrial {
  readonly rule: string;
  readonly project: string;
  readonly metric: string | null;
  readonly tags: readonly string[];
  readonly cases: TrialCases | null;
  readonly pairs: number;
  readonly running: string | null;
}

export interface PairRow {
  readonly pair: string;
  readonly rule: string;
  readonly project: string;
  readonly case_id: string;
  readonly case_kind: CaseKind;
  readonly first: 'with' | 'without';
  readonly cases: TrialCases;
}

export interface ArmRow {
  readonly arm: 'with' | 'without';
  readonly state: string;
  readonly reason: string | null;
  readonly surfaced: boolean;
  readonly scores: Readonly<Record<string, number>> | null;
  /** Its reads have surely been told by now. */
  readonly quiet: boolean;
}

/** Between two looks whether there is a case to replay a candidate on. */
const CASES_S = 30;
/** Seconds in which a run's last read has surely been told. */
const QUIET_S = 1;

@Injectable()
export class PairStore {
  /** Undecided trials of candidates that are delivered, in the order in which they were replayed least. */
  trials(read: Read): Promise<ReplayableTrial[]> {
    return read<ReplayableTrial>(
      `SELECT t.rule, t.project, t.metric, r.tags, t.cases, (SELECT count(*) FROM validation.pairs p WHERE p.rule = t.rule) AS pairs,
         (SELECT p.pair FROM validation.pairs p WHERE p.rule = t.rule AND p.state = 'running') AS running
       FROM validation.trials t JOIN rules.rules r ON r.id = t.rule
       WHERE t.kind = 'candidate' AND t.verdict IS NULL AND r.status = 'candidate' AND r.hold IS NULL AND r.withdrawn_at IS NULL
         AND (t.cases IS NOT NULL OR t.cases_at IS NULL OR t.cases_at < now() - interval '${CASES_S} seconds')
       ORDER BY pairs, t.rule LIMIT 200`,
      [],
    );
  }

  /** Cases are chosen once; a candidate without one is looked at again later. */
  async saveCases(tx: Transaction, rule: string, cases: TrialCases | null): Promise<void> {
    await tx.query('UPDATE validation.trials SET cases_at = now(), cases = coalesce(cases, $2::jsonb) WHERE rule = $1', [
      rule,
      cases === null ? null : JSON.stringify(cases),
    ]);
  }

  /** False when another worker was first. */
  async open(
    tx: Transaction,
    pair: {
      readonly pair: string;
      readonly rule: string;
      readonly project: string;
      readonly number: number;
      readonly case_id: string;
      readonly case_kind: CaseKind;
      readonly first: 'with' | 'without';
    },
  ): Promise<boolean> {
    const rows = await tx.query(
      `INSERT INTO validation.pairs (pair, rule, project, number, case_id, case_kind, first) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING 1`,
      [pair.pair, pair.rule, pair.project, pair.number, pair.case_id, pair.case_kind, pair.first],
    );
    return rows.length > 0;
  }

  running(read: Read): Promise<PairRow[]> {
    return read<PairRow>(
      `SELECT p.pair, p.rule, p.project, p.case_id, p.case_kind, p.first, t.cases FROM validation.pairs p JOIN validation.trials t USING (rule) WHERE p.state = 'running' ORDER BY p.pair`,
      [],
    );
  }

  /** Locks a running pair; false when it has ended. */
  async lock(tx: Transaction, pair: string): Promise<boolean> {
    const rows = await tx.query("SELECT 1 FROM validation.pairs WHERE pair = $1 AND state = 'running' FOR UPDATE", [pair]);
    return rows.length > 0;
  }

  arms(tx: Transaction, pair: string): Promise<ArmRow[]> {
    return tx.query<ArmRow>(
      `SELECT arm, state, reason, surfaced, scores, ended_at < now() - interval '${QUIET_S} seconds' AS quiet FROM validation.replays WHERE pair = $1`,
      [pair],
    );
  }

  async end(
    tx: Transaction,
    pair: string,
    end: {
      readonly state: 'counted' | 'inconclusive';
      readonly reason: string | null;
      readonly deltas: Readonly<Record<string, number>>;
    },
  ): Promise<void> {
    await tx.query('UPDATE validation.pairs SET state = $2, reason = $3, deltas = $4, ended_at = now() WHERE pair = $1', [
      ...[pair, end.state, end.reason, JSON.stringify(end.deltas)],
    ]);
  }
}

/** How a run of a pair ended; null while it has not. */
export function runEnd({ state, reason, surfaced, scores, quiet }: ArmRow): RunEnd | null {
  if (state === 'inconclusive')
    return { scores: null, surfaced, reason: reason === 'env_wait_timeout' ? 'env_wait_timeout' : 'replay_inconclusive' };
  return state === 'scored' && scores !== null && (surfaced || quiet) ? { scores, surfaced } : null;
}
