import { Injectable } from '@nestjs/common';
import type { Report } from '#contracts';
import { derivedId } from '#domain/ids';
import type { Transaction } from '#persistence';
import type { NoticeRow } from './notice-store.js';

export interface Capture {
  readonly notice: NoticeRow;
  readonly report: Omit<Report, 'revision'>;
  /** At most this many cases per project; 0: unlimited. */
  readonly max: number;
}

/** Failure cases, written in the transaction of their notice (BEHAVIOUR 10). The project's breaker row is locked by the caller. */
@Injectable()
export class EvalCaseStore {
  async capture(tx: Transaction, captures: readonly Capture[]): Promise<void> {
    if (captures.length === 0) return;
    const rows = captures.map(({ notice, report }) => ({
      ...{
        id: `c-${derivedId('case', notice.s, ...notice.signatures)}`,
        project: notice.project,
        s: notice.s,
        t: notice.t,
        session: notice.session,
      },
      ...{ signatures: notice.signatures, notes: notice.summary, notice_id: notice.id, baseline: baselineOf(report) },
    }));
    const created = await tx.query<{ id: string; project: string }>(
      `INSERT INTO evalset.cases (id, project, s, session, kind, signatures, baseline, replay_input, notes, notice_id)
       SELECT r.id, r.project, r.s, r.session, 'failure', ARRAY(SELECT json_array_elements_text(r.signatures)), r.baseline, t.end_state, r.notes, r.notice_id
       FROM json_to_recordset($1::json) AS r(id text, project text, s uuid, t bigint, session text, signatures json, baseline jsonb, notes text, notice_id text)
       LEFT JOIN scoring.turns t ON t.s = r.s AND t.t = r.t ORDER BY r.id ON CONFLICT DO NOTHING RETURNING id, project`,
      [JSON.stringify(rows)],
    );
    for (const { id, project } of created)
      tx.journal({ id: derivedId('eval_case_captured', id), project, type: 'eval_case_captured', doc: { case: id } });
    const limits = new Map(captures.filter(({ max }) => max > 0).map(({ notice, max }) => [notice.project, max]));
    for (const [project, max] of limits) if (created.some((one) => one.project === project)) await this.evict(tx, project, max);
  }

  /** The oldest failures go first; wins never. */
  private async evict(tx: Transaction, project: string, max: number): Promise<void> {
    const gone = await tx.query<{ id: string }>(
      `DELETE FROM evalset.cases WHERE id IN (
         SELECT id FROM evalset.cases WHERE project = $1 AND kind = 'failure' ORDER BY created_at, id
         LIMIT greatest(0, (SELECT count(*) FROM evalset.cases WHERE project = $1) - $2)) RETURNING id`,
      [project, max],
    );
    for (const { id } of gone)
      tx.journal({ id: derivedId('eval_case_evicted', id), project, type: 'eval_case_evicted', doc: { case: id } });
  }
}

/** Scores at capture: metric to value, of what was measured; a metric of several traces keeps the last. */
function baselineOf({ scores }: Omit<Report, 'revision'>): Record<string, number> {
  return Object.fromEntries(scores.flatMap(({ metric, value }) => (value === null ? [] : [[metric, value]])));
}
