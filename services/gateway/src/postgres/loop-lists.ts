import type { Episode, Incident, JournalEvent } from '#contracts';
import { sessionKey } from '#domain/ids';
import { Conditions, type After } from './conditions.js';
import { EPISODE_COLUMNS, EPISODES } from './episodes.js';
import { instant, micros, type Database } from './database.js';

export interface EpisodeFilter {
  readonly session?: string | undefined;
  readonly status?: string | undefined;
  readonly incident?: string | undefined;
  readonly outcome?: string | undefined;
  readonly waits_for?: string | undefined;
}

export interface JournalFilter {
  readonly type?: string | undefined;
  readonly session?: string | undefined;
  readonly episode?: string | undefined;
  readonly rule?: string | undefined;
  /** Microseconds; `until` is excluded. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** Episodes, incidents and the journal; newest first, at most `limit` + 1. */
export class LoopLists {
  constructor(private readonly db: Database) {}

  async episodes(project: string, filter: EpisodeFilter, after: After | null, limit: number): Promise<Episode[]> {
    const where = new Conditions()
      .add(project, (p) => `e.project = ${p}`)
      .add(filter.session === undefined ? undefined : sessionKey(project, filter.session), (p) => `e.s = ${p}`)
      .add(filter.status, (p) => `e.status = ${p}`)
      .add(filter.incident, (p) => `e.incident_id = ${p}`)
      .add(filter.outcome, (p) => `e.outcome ->> 'status' = ${p}`)
      .add(filter.waits_for, (p) => `w.waits_for = ${p}`)
      .after(after, 'e.opened_at', 'e.id');
    return this.db.query<Episode>(
      `SELECT ${EPISODE_COLUMNS} FROM ${EPISODES} WHERE ${where.toString()} ORDER BY e.opened_at DESC, e.id LIMIT ${limit + 1}`,
      where.parameters,
    );
  }

  async incidents(project: string, status: string | undefined, after: After | null, limit: number): Promise<Incident[]> {
    const where = new Conditions()
      .add(project, (p) => `i.project = ${p}`)
      .add(status, (p) => `i.status = ${p}`)
      .after(after, 'i.opened_at', 'i.id');
    return this.db.query<Incident>(
      `SELECT i.id, i.fingerprint, i.status, i.opened_by, ${micros('i.opened_at')} AS opened_at, i.rule_id, own.episodes, own.notices
       FROM mailbox.incidents i
       CROSS JOIN LATERAL (
         SELECT count(*) AS episodes, coalesce(sum(cardinality(e.notice_ids)), 0) AS notices FROM mailbox.episodes e WHERE e.incident_id = i.id) own
       WHERE ${where.toString()} ORDER BY i.opened_at DESC, i.id LIMIT ${limit + 1}`,
      where.parameters,
    );
  }

  async journal(project: string, filter: JournalFilter, after: After | null, limit: number): Promise<JournalEvent[]> {
    const where = new Conditions()
      .add(project, (p) => `j.project = ${p}`)
      .add(filter.type, (p) => `j.type = ${p}`)
      .add(filter.session === undefined ? undefined : sessionKey(project, filter.session), (p) => `j.s = ${p}`)
      .add(filter.episode, (p) => `j.episode = ${p}`)
      .add(filter.rule, (p) => `j.rule = ${p}`)
      .add(filter.since, (p) => `j.at >= ${instant(p)}`)
      .add(filter.until, (p) => `j.at < ${instant(p)}`)
      .after(after, 'j.at', 'j.id');
    return this.db.query<JournalEvent>(
      `SELECT j.id, ${micros('j.at')} AS at, j.type, j.session AS session_id, j.t AS turn_index, j.episode, j.rule, j.doc
       FROM journal.events j WHERE ${where.toString()} ORDER BY j.at DESC, j.id LIMIT ${limit + 1}`,
      where.parameters,
    );
  }
}
