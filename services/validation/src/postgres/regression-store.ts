import type { Read } from '#rule-store';
import { Injectable } from '@nestjs/common';
import type { Margins } from '#domain/evidence';
import type { Transaction } from '#persistence';

interface Key {
  readonly run: string;
  readonly place: number;
  readonly repetition: number;
}

export interface OpenCase extends Key {
  readonly project: string;
  readonly case_id: string;
}

/** A case of a run whose replay has ended. */
export interface RunCase extends Key {
  readonly state: string;
  readonly reason: string | null;
  readonly scores: Readonly<Record<string, number>> | null;
  readonly baseline: Readonly<Record<string, number>>;
  readonly margins: Margins;
}

export interface JudgedCase extends Key {
  readonly status: string;
  readonly reason: string | null;
  readonly deltas: Readonly<Record<string, number>>;
}

@Injectable()
export class RegressionStore {
  /** The next case of every running run that has no replay yet, the oldest run of a project first. */
  next(read: Read): Promise<OpenCase[]> {
    return read<OpenCase>(
      `SELECT r.run, r.project, c.place, c.repetition, c.case_id FROM validation.regressions r
       CROSS JOIN LATERAL (SELECT * FROM validation.regression_cases x WHERE x.run = r.run AND x.status IS NULL AND x.replay IS NULL ORDER BY x.place, x.repetition LIMIT 1) c
       WHERE r.state = 'running' ORDER BY r.created_at, r.run`,
      [],
    );
  }

  /** False when another worker has it. */
  async lock(tx: Transaction, { run, place, repetition }: Key): Promise<boolean> {
    const rows = await tx.query(
      'SELECT 1 FROM validation.regression_cases WHERE run = $1 AND place = $2 AND repetition = $3 AND replay IS NULL AND status IS NULL FOR UPDATE SKIP LOCKED',
      [run, place, repetition],
    );
    return rows.length > 0;
  }

  async give(tx: Transaction, { run, place, repetition }: Key, replay: string): Promise<void> {
    await tx.query('UPDATE validation.regression_cases SET replay = $4 WHERE run = $1 AND place = $2 AND repetition = $3', [
      ...[run, place, repetition, replay],
    ]);
  }

  ended(read: Read): Promise<RunCase[]> {
    return read<RunCase>(
      `SELECT c.run, c.place, c.repetition, v.state, v.reason, v.scores, coalesce(e.baseline, '{}') AS baseline, r.margins
       FROM validation.regression_cases c JOIN validation.replays v ON v.replay = c.replay JOIN validation.regressions r ON r.run = c.run LEFT JOIN evalset.cases e ON e.id = c.case_id
       WHERE c.status IS NULL AND v.state IN ('scored', 'inconclusive') ORDER BY c.run, c.place, c.repetition LIMIT 500`,
      [],
    );
  }

  async save(tx: Transaction, cases: readonly JudgedCase[]): Promise<void> {
    await tx.query(
      `UPDATE validation.regression_cases c SET status = k.status, reason = k.reason, deltas = k.deltas
       FROM json_to_recordset($1::json) AS k(run text, place int, repetition int, status text, reason text, deltas jsonb)
       WHERE c.run = k.run AND c.place = k.place AND c.repetition = k.repetition AND c.status IS NULL`,
      [JSON.stringify(cases)],
    );
  }

  complete(read: Read): Promise<{ run: string; project: string }[]> {
    return read(
      `SELECT run, project FROM validation.regressions r WHERE state = 'running' AND NOT EXISTS (SELECT 1 FROM validation.regression_cases c WHERE c.run = r.run AND c.status IS NULL)`,
      [],
    );
  }

  async close(tx: Transaction, run: string): Promise<boolean> {
    const rows = await tx.query(
      "UPDATE validation.regressions SET state = 'done', ended_at = now() WHERE run = $1 AND state = 'running' RETURNING 1",
      [run],
    );
    return rows.length > 0;
  }

  async counts(tx: Transaction, run: string): Promise<Record<string, number>> {
    const rows = await tx.query<{ status: string; n: number }>(
      'SELECT status, count(*) AS n FROM validation.regression_cases WHERE run = $1 GROUP BY status ORDER BY status',
      [run],
    );
    return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
  }
}
