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
  /** How often it was opened: more than once when its notices were corrected and stand again. */
  readonly attempt: number;
}

export interface IncidentRow {
  readonly id: string;
  readonly project: string;
  readonly fingerprint: string | null;
  /** `covered`: repaired, and its rule stands for what recurs. */
  readonly status: 'open' | 'suppressed' | 'covered' | 'closed';
  /** The episode that asks for a repair on behalf of all; empty while there is none. */
  readonly opened_by: string;
}

/** An incident with the episodes that decide what becomes of it. */
export interface IncidentState extends IncidentRow {
  readonly opener_lives: boolean;
  /** Its oldest episode that waits for a repair, or is being repaired. */
  readonly first: EpisodeRow | null;
  /** Another live incident of the same fault. */
  readonly other: string | null;
}

@Injectable()
export class EpisodeStore {
  /** Live incidents of these faults, locked in order of id. */
  incidentsOf(tx: Transaction, faults: readonly { project: string; fingerprint: string }[]): Promise<IncidentRow[]> {
    if (faults.length === 0) return Promise.resolve([]);
    return tx.query<IncidentRow>(
      `SELECT i.id, i.project, i.fingerprint, i.status, i.opened_by FROM mailbox.incidents i
       JOIN (SELECT DISTINCT project, fingerprint FROM json_to_recordset($1::json) AS k(project text, fingerprint text)) k
         ON i.project = k.project AND md5(i.fingerprint) = md5(k.fingerprint) AND i.fingerprint = k.fingerprint
       WHERE i.status IN ('open', 'suppressed', 'covered') ORDER BY i.id FOR UPDATE OF i`,
      [JSON.stringify(faults)],
    );
  }

  /** Episodes of these turns that no repair has claimed. */
  openOf(tx: Transaction, turns: readonly { s: string; t: number }[]): Promise<EpisodeRow[]> {
    return tx.query<EpisodeRow>(
      `SELECT ${EPISODE_COLUMNS} FROM mailbox.episodes e
       JOIN (SELECT DISTINCT s, t FROM json_to_recordset($1::json) AS k(s uuid, t bigint)) k USING (s, t) WHERE e.status = 'open' ORDER BY e.id FOR UPDATE OF e`,
      [JSON.stringify(turns)],
    );
  }

  async voidEpisodes(tx: Transaction, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await tx.query("UPDATE mailbox.episodes SET status = 'void' WHERE id = ANY($1::text[])", [ids]);
  }

  /** Opens episodes, again when they were void. Returns those that are open now: one that a repair has claimed stays as it is. */
  async insertEpisodes(tx: Transaction, episodes: readonly EpisodeRow[]): Promise<EpisodeRow[]> {
    if (episodes.length === 0) return [];
    return tx.query<EpisodeRow>(
      `INSERT INTO mailbox.episodes AS e (id, project, s, t, session, incident_id, notice_ids, recommended_scope)
       SELECT id, project, s, t, session, incident_id, ARRAY(SELECT json_array_elements_text(notice_ids)), recommended_scope
       FROM json_to_recordset($1::json) AS r(id text, project text, s uuid, t bigint, session text, incident_id text, notice_ids json, recommended_scope text) ORDER BY id
       ON CONFLICT (id) DO UPDATE SET status = 'open', attempt = e.attempt + 1, incident_id = excluded.incident_id WHERE e.status = 'void'
       RETURNING ${EPISODE_COLUMNS}`,
      [JSON.stringify(episodes)],
    );
  }

  /** Before episodes are touched, in one order: whoever joins or leaves an incident sees what the other did. */
  async lockIncidents(tx: Transaction, ids: readonly string[]): Promise<void> {
    await tx.query('SELECT 1 FROM mailbox.incidents WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE', [ids]);
  }

  states(tx: Transaction, ids: readonly string[]): Promise<IncidentState[]> {
    return tx.query<IncidentState>(
      `SELECT i.id, i.project, i.fingerprint, i.status, i.opened_by, coalesce(o.status IN ('open', 'claimed'), false) AS opener_lives, to_jsonb(first) AS first, other.id AS other
       FROM mailbox.incidents i LEFT JOIN mailbox.episodes o ON o.id = i.opened_by AND o.incident_id = i.id
       LEFT JOIN LATERAL (SELECT ${EPISODE_COLUMNS} FROM mailbox.episodes e WHERE e.incident_id = i.id AND e.status IN ('open', 'claimed') ORDER BY e.opened_at, e.id LIMIT 1) first ON true
       LEFT JOIN LATERAL (SELECT x.id FROM mailbox.incidents x WHERE x.project = i.project AND md5(x.fingerprint) = md5(i.fingerprint)
         AND x.status IN ('open', 'suppressed', 'covered') AND x.id <> i.id LIMIT 1) other ON true
       WHERE i.id = ANY($1::text[]) ORDER BY i.id`,
      [ids],
    );
  }

  /** The episodes and notices of one incident go over to another one of the same fault. */
  async moveEpisodes(tx: Transaction, from: string, to: string): Promise<void> {
    await tx.query(
      `WITH moved AS (UPDATE mailbox.episodes SET incident_id = $2 WHERE incident_id = $1 AND status IN ('open', 'claimed') RETURNING notice_ids)
       UPDATE mailbox.notices SET incident_id = $2 FROM moved WHERE id = ANY(moved.notice_ids)`,
      [from, to],
    );
  }

  async saveIncidents(tx: Transaction, incidents: readonly IncidentRow[]): Promise<void> {
    if (incidents.length === 0) return;
    // A batch can suppress a fault and then let it out: the last word counts, and one statement takes each row once.
    const last = [...new Map(incidents.map((one) => [one.id, one])).values()];
    await tx.query(
      `INSERT INTO mailbox.incidents (id, project, fingerprint, status, opened_by)
       SELECT id, project, fingerprint, status, opened_by FROM json_to_recordset($1::json) AS r(id text, project text, fingerprint text, status text, opened_by text) ORDER BY id
       ON CONFLICT (id) DO UPDATE SET status = excluded.status, opened_by = excluded.opened_by`,
      [JSON.stringify(last)],
    );
  }
}

const EPISODE_COLUMNS = 'e.id, e.project, e.s, e.t, e.session, e.incident_id, e.notice_ids, e.recommended_scope, e.attempt';
