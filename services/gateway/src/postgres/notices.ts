import type { Notice, NoticeStatus, Severity } from '#contracts';
import { sessionKey } from '#domain/ids';
import { Conditions, type After } from './conditions.js';
import { instant, micros, type Database } from './database.js';

export interface NoticeFilter {
  readonly session?: string | undefined;
  readonly severity?: Severity | undefined;
  readonly status?: NoticeStatus | undefined;
  /** Microseconds. */
  readonly since?: number | undefined;
}

const COLUMNS = `id, session AS session_id, t AS turn_index, severity, status, signatures, summary, metrics, flagged_traces, scope_hints,
  recommended_scope, incident_id, episode_id, ${micros('posted_at')} AS posted_at, resolution`;

/** A session's notices: more than these nobody reads in one answer. */
const MAX_OF_SESSION = 200;
/** What a stream sends again on resuming is bounded; a reader that was away longer reads the list. */
const MAX_RESUMED = 1_000;

export class Notices {
  constructor(private readonly db: Database) {}

  /** Newest first; at most `limit` + 1. */
  async list(project: string, filter: NoticeFilter, after: After | null, limit: number): Promise<Notice[]> {
    const where = new Conditions()
      .add(project, (p) => `project = ${p}`)
      .add(filter.session === undefined ? undefined : sessionKey(project, filter.session), (p) => `s = ${p}`)
      .add(filter.severity, (p) => `severity = ${p}`)
      .add(filter.status, (p) => `status = ${p}`)
      .add(filter.since, (p) => `posted_at >= ${instant(p)}`)
      .after(after, 'posted_at', 'id');
    return this.db.query<Notice>(
      `SELECT ${COLUMNS} FROM mailbox.notices WHERE ${where.toString()} ORDER BY mailbox.notices.posted_at DESC, id LIMIT ${limit + 1}`,
      where.parameters,
    );
  }

  /** Of one session, newest turn first. */
  async ofSession(s: string): Promise<Notice[]> {
    return this.db.query<Notice>(
      `SELECT ${COLUMNS} FROM mailbox.notices WHERE s = $1 ORDER BY t DESC, id DESC LIMIT ${MAX_OF_SESSION}`,
      [s],
    );
  }

  /**
   * Those that were published at or after the given microseconds, oldest first. Told by how they got out, which stays: a notice that
   * was suppressed and corrected later has a status like one that was posted.
   */
  async publishedSince(project: string, since: number): Promise<Notice[]> {
    return this.db.query<Notice>(
      `SELECT ${COLUMNS} FROM mailbox.notices WHERE project = $1 AND posted_at >= ${instant('$2')} AND passage IN ('post', 'needs_human')
       ORDER BY mailbox.notices.posted_at, id LIMIT ${MAX_RESUMED}`,
      [project, since],
    );
  }
}
