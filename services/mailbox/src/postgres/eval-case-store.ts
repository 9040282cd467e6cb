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

interface CaseRow {
  readonly id: string;
  readonly project: string;
  readonly s: string;
  readonly t: number;
  readonly session: string;
  readonly signatures: readonly string[];
  readonly notes: string;
  readonly notice_id: string;
  readonly baseline: Readonly<Record<string, number>>;
}

/** Failure cases, written in the transaction of their notice (BEHAVIOUR 10). The project's breaker row is locked by the caller. */
@Injectable()
export class EvalCaseStore {
  async capture(tx: Transaction, captures: readonly Capture[]): Promise<void> {
    if (captures.length === 0) return;
    const limits = new Map(captures.filter(({ max }) => max > 0).map(({ notice, max }) => [notice.project, max]));
    const rows = captures.map(caseRow);
    const full = await this.fullOfWins(tx, limits);
    await this.refuse(
      tx,
      rows.filter(({ project }) => full.has(project)),
    );
    const created = await this.insert(
      tx,
      rows.filter(({ project }) => !full.has(project)),
    );
    for (const [project, max] of limits) if (created.some((one) => one.project === project)) await this.evict(tx, project, max);
  }

  private async insert(tx: Transaction, rows: readonly CaseRow[]): Promise<{ id: string; project: string }[]> {
    if (rows.length === 0) return [];
    const created = await tx.query<{ id: string; project: string }>(
      `INSERT INTO evalset.cases (id, project, s, session, kind, signatures, baseline, replay_input, notes, notice_id)
       SELECT r.id, r.project, r.s, r.session, 'failure', ARRAY(SELECT json_array_elements_text(r.signatures)), r.baseline, t.end_state, r.notes, r.notice_id
       FROM json_to_recordset($1::json) AS r(id text, project text, s uuid, t bigint, session text, signatures json, baseline jsonb, notes text, notice_id text)
       LEFT JOIN scoring.turns t ON t.s = r.s AND t.t = r.t ORDER BY r.id ON CONFLICT DO NOTHING RETURNING id, project`,
      [JSON.stringify(rows)],
    );
    for (const { id, project } of created)
      tx.journal({ id: derivedId('eval_case_captured', id), project, type: 'eval_case_captured', doc: { case: id } });
    return created;
  }

  /** Projects whose wins alone fill their set: wins are never evicted, so a new failure would be, by the next statement. */
  private async fullOfWins(tx: Transaction, limits: ReadonlyMap<string, number>): Promise<Set<string>> {
    if (limits.size === 0) return new Set();
    const wins = await tx.query<{ project: string; wins: number }>(
      "SELECT project, count(*)::int AS wins FROM evalset.cases WHERE project = ANY($1::text[]) AND kind = 'win' GROUP BY project",
      [[...limits.keys()]],
    );
    return new Set(wins.filter((one) => one.wins >= (limits.get(one.project) ?? Infinity)).map(({ project }) => project));
  }

  /** Loudly: whoever captures failures must learn that there is no room for them. One that is kept already is not refused. */
  private async refuse(tx: Transaction, rows: readonly CaseRow[]): Promise<void> {
    if (rows.length === 0) return;
    const kept = await tx.query<{ id: string }>('SELECT id FROM evalset.cases WHERE id = ANY($1::text[])', [
      rows.map(({ id }) => id),
    ]);
    for (const { id, project, s, session, t, notice_id: notice } of rows) {
      if (kept.some((one) => one.id === id)) continue;
      const doc = { case: id, notice, reason: 'wins alone fill eval_case_max: raise it, or remove wins' };
      tx.journal({ id: derivedId('eval_case_refused', id), project, type: 'eval_case_refused', s, session, t, doc });
    }
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

function caseRow({ notice, report }: Capture): CaseRow {
  const { project, s, t, session, signatures, summary: notes, id: notice_id } = notice;
  const id = `c-${derivedId('case', s, ...signatures)}`;
  return { id, project, s, t, session, signatures, notes, notice_id, baseline: baselineOf(report) };
}

/** Scores at capture: metric to value, of what was measured; a metric of several traces keeps the last. */
function baselineOf({ scores }: Omit<Report, 'revision'>): Record<string, number> {
  return Object.fromEntries(scores.flatMap(({ metric, value }) => (value === null ? [] : [[metric, value]])));
}
