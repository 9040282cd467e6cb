import { Injectable } from '@nestjs/common';
import type { Transaction } from '#persistence';
import type { TrialKind } from './trial-store.js';

export interface ExposureRow {
  readonly s: string;
  readonly read_id: string;
  readonly project: string;
  readonly session: string;
  readonly t: number | null;
  readonly kind: string;
  readonly version: number;
  readonly rule_ids: readonly string[];
  readonly withheld_ids: readonly string[];
  readonly at_us: number;
  /** The broker's time. */
  readonly stored_us: number;
}

/**
 * A session that came to a rule under trial, shown or withheld. `rule`: the trial, which for a candidate is named as its rule. `exposure_us`:
 * the first time, as far as these exposures tell.
 */
export interface Arrival {
  readonly rule: string;
  readonly of: string;
  readonly kind: TrialKind;
  readonly s: string;
  readonly project: string;
  readonly session: string;
  readonly exposure_us: number;
  readonly metric: string | null;
  readonly allocation: number;
  readonly salt: string;
}

@Injectable()
export class ExposureStore {
  /** The same read told twice is one exposure. */
  async insert(tx: Transaction, rows: readonly ExposureRow[]): Promise<void> {
    await tx.query(
      `INSERT INTO validation.exposures (s, read_id, project, session, t, kind, version, rule_ids, withheld_ids, at_us, stored_us)
       SELECT s, read_id, project, session, t, kind, version, ARRAY(SELECT json_array_elements_text(rule_ids)), ARRAY(SELECT json_array_elements_text(withheld_ids)), at_us, stored_us
       FROM json_to_recordset($1::json) AS r(s uuid, read_id text, project text, session text, t bigint, kind text, version bigint, rule_ids json, withheld_ids json, at_us bigint, stored_us bigint)
       ORDER BY s, read_id ON CONFLICT DO NOTHING`,
      [JSON.stringify(rows)],
    );
  }

  /** What of these exposures is a trial's, per rule and session, in the order in which they came. Answers the same when asked again. */
  arrivals(tx: Transaction, rows: readonly ExposureRow[]): Promise<Arrival[]> {
    return tx.query<Arrival>(
      `SELECT coalesce(w.rule, r.id) AS rule, r.id AS of, CASE WHEN w.rule IS NULL THEN 'candidate' ELSE 'ablation' END AS kind, x.s, x.project, min(x.session) AS session, min(x.stored_us) AS exposure_us, r.metric, r.allocation, p.salt
       FROM json_to_recordset($1::json) AS x(s uuid, project text, session text, rule_ids json, withheld_ids json, stored_us bigint)
       CROSS JOIN LATERAL (SELECT json_array_elements_text(x.rule_ids) UNION SELECT json_array_elements_text(x.withheld_ids)) AS k(id)
       JOIN rules.rules r ON r.id = k.id AND r.project = x.project AND r.status <> 'retired' JOIN edge.projects p ON p.project = x.project
       LEFT JOIN validation.trials w ON w.of = r.id AND w.kind = 'ablation' AND w.verdict IS NULL
       WHERE r.status = 'candidate' OR w.rule IS NOT NULL
       GROUP BY r.id, w.rule, x.s, x.project, p.salt ORDER BY min(x.stored_us), x.s, r.id`,
      [JSON.stringify(rows)],
    );
  }

  /** Reads by replays: the run of a pair came to its rule, shown or withheld. */
  async surface(tx: Transaction, reads: readonly ExposureRow[]): Promise<void> {
    await tx.query(
      `UPDATE validation.replays v SET surfaced = true FROM json_to_recordset($1::json) AS k(s uuid, rules jsonb)
       WHERE v.s = k.s AND NOT v.surfaced AND k.rules ? v.rule`,
      [JSON.stringify(reads.map(({ s, rule_ids, withheld_ids }) => ({ s, rules: [...rule_ids, ...withheld_ids] })))],
    );
  }
}
