import { Injectable } from '@nestjs/common';
import type { Transaction } from '#persistence';

export interface EpisodeRow {
  readonly id: string;
  readonly project: string;
  readonly s: string;
  readonly t: number;
  readonly session: string;
  readonly incident_id: string;
  readonly notice_ids: readonly string[];
  readonly recommended_scope: string | null;
}

export interface IncidentRow {
  readonly id: string;
  readonly project: string;
  readonly fingerprint: string | null;
  readonly status: 'open' | 'suppressed' | 'closed';
  readonly opened_by: string;
}

@Injectable()
export class EpisodeStore {
  /** Incidents of these faults that are open or suppressed, locked in order of id. */
  incidentsOf(tx: Transaction, faults: readonly { project: string; fingerprint: string }[]): Promise<IncidentRow[]> {
    if (faults.length === 0) return Promise.resolve([]);
    return tx.query<IncidentRow>(
      `SELECT i.id, i.project, i.fingerprint, i.status, i.opened_by FROM mailbox.incidents i
       JOIN (SELECT DISTINCT project, fingerprint FROM json_to_recordset($1::json) AS k(project text, fingerprint text)) k
         ON i.project = k.project AND md5(i.fingerprint) = md5(k.fingerprint) AND i.fingerprint = k.fingerprint
       WHERE i.status IN ('open', 'suppressed') ORDER BY i.id FOR UPDATE OF i`,
      [JSON.stringify(faults)],
    );
  }

  /** Episodes of these turns that no repair has claimed. */
  openOf(tx: Transaction, turns: readonly { s: string; t: number }[]): Promise<EpisodeRow[]> {
    return tx.query<EpisodeRow>(
      `SELECT e.id, e.project, e.s, e.t, e.session, e.incident_id, e.notice_ids, e.recommended_scope FROM mailbox.episodes e
       JOIN (SELECT DISTINCT s, t FROM json_to_recordset($1::json) AS k(s uuid, t bigint)) k USING (s, t) WHERE e.status = 'open' ORDER BY e.id FOR UPDATE OF e`,
      [JSON.stringify(turns)],
    );
  }

  async voidEpisodes(tx: Transaction, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await tx.query("UPDATE mailbox.episodes SET status = 'void' WHERE id = ANY($1::text[])", [ids]);
  }

  async insertEpisodes(tx: Transaction, episodes: readonly EpisodeRow[]): Promise<void> {
    if (episodes.length === 0) return;
    await tx.query(
      `INSERT INTO mailbox.episodes (id, project, s, t, session, incident_id, notice_ids, recommended_scope)
       SELECT id, project, s, t, session, incident_id, ARRAY(SELECT json_array_elements_text(notice_ids)), recommended_scope
       FROM json_to_recordset($1::json) AS r(id text, project text, s uuid, t bigint, session text, incident_id text, notice_ids json, recommended_scope text) ORDER BY id
       ON CONFLICT (id) DO UPDATE SET status = 'open'`,
      [JSON.stringify(episodes)],
    );
  }

  async saveIncidents(tx: Transaction, incidents: readonly IncidentRow[]): Promise<void> {
    if (incidents.length === 0) return;
    await tx.query(
      `INSERT INTO mailbox.incidents (id, project, fingerprint, status, opened_by)
       SELECT id, project, fingerprint, status, opened_by FROM json_to_recordset($1::json) AS r(id text, project text, fingerprint text, status text, opened_by text) ORDER BY id
       ON CONFLICT (id) DO UPDATE SET status = excluded.status, opened_by = excluded.opened_by`,
      [JSON.stringify(incidents)],
    );
  }

  /** Incidents that these episodes left and that have no episode any more are closed: their cause was corrected away. */
  async closeEmpty(tx: Transaction, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await tx.query(
      `UPDATE mailbox.incidents i SET status = 'closed' WHERE i.id = ANY($1::text[]) AND i.status = 'open'
       AND NOT EXISTS (SELECT 1 FROM mailbox.episodes e WHERE e.incident_id = i.id AND e.status <> 'void')`,
      [ids],
    );
  }
}
