import { Injectable } from '@nestjs/common';
import type { Notice, NoticeStatus, ScopeHint } from '#contracts';
import type { Breaker } from '#domain/notices';
import type { Transaction } from '#persistence';

/** A notice as kept: what was posted, and how it got out. */
export interface NoticeRow extends Omit<Notice, 'session_id' | 'turn_index' | 'posted_at' | 'resolution'> {
  readonly project: string;
  readonly session: string;
  readonly s: string;
  readonly t: number;
  readonly fingerprint: string | null;
  readonly passage: 'post' | 'needs_human' | 'suppress' | 'shadow';
  readonly corrections: number;
  /** Microseconds since the epoch, by the database's clock. */
  readonly posted_us: number;
}

export interface BreakerRow extends Breaker {
  readonly project: string;
}

const COLUMNS = `n.id, n.project, n.session, n.s, n.t, n.severity, n.status, n.signatures, n.summary, n.metrics, n.flagged_traces, n.scope_hints, n.recommended_scope,
  n.fingerprint, n.incident_id, n.episode_id, n.passage, n.corrections, (extract(epoch FROM n.posted_at) * 1000000)::bigint AS posted_us`;

@Injectable()
export class NoticeStore {
  /** Notices of sessions from a turn on. */
  since(tx: Transaction, sessions: readonly { s: string; from: number }[]): Promise<NoticeRow[]> {
    return tx.query<NoticeRow>(
      `SELECT ${COLUMNS} FROM json_to_recordset($1::json) AS k(s uuid, "from" bigint) JOIN mailbox.notices n ON n.s = k.s AND n.t >= k."from" ORDER BY n.id`,
      [JSON.stringify(sessions.map(({ s, from }) => ({ s, from })))],
    );
  }

  /** Locks the breakers of projects (created when missing), in order. Returns them with the database's clock, in seconds. */
  async lockBreakers(tx: Transaction, projects: readonly string[]): Promise<{ breakers: Map<string, Breaker>; now: number }> {
    await tx.query(
      'INSERT INTO mailbox.breakers (project) SELECT p FROM unnest($1::text[]) AS p ORDER BY p ON CONFLICT DO NOTHING',
      [projects],
    );
    const rows = await tx.query<BreakerRow>(
      'SELECT project, counted, open FROM mailbox.breakers WHERE project = ANY($1::text[]) ORDER BY project FOR UPDATE',
      [projects],
    );
    const [clock] = await tx.query<{ now: number }>('SELECT extract(epoch FROM clock_timestamp())::float8 AS now');
    return { breakers: new Map(rows.map(({ project, counted, open }) => [project, { counted, open }])), now: clock?.now ?? 0 };
  }

  async saveBreakers(tx: Transaction, breakers: ReadonlyMap<string, Breaker>): Promise<void> {
    const rows = [...breakers].map(([project, { counted, open }]) => ({ project, counted, open }));
    await tx.query(
      `UPDATE mailbox.breakers b SET counted = ARRAY(SELECT v::float8 FROM json_array_elements_text(r.counted) AS v), open = r.open
       FROM json_to_recordset($1::json) AS r(project text, counted json, open boolean) WHERE b.project = r.project`,
      [JSON.stringify(rows)],
    );
  }

  /** What the host said about scopes for these turns. */
  async scopeHints(tx: Transaction, turns: readonly { s: string; t: number }[]): Promise<Map<string, ScopeHint[]>> {
    const rows = await tx.query<{ s: string; t: number; scope_hints: ScopeHint[] }>(
      `SELECT t.s, t.t, t.scope_hints FROM scoring.turns t JOIN json_to_recordset($1::json) AS k(s uuid, t bigint) USING (s, t) WHERE t.scope_hints IS NOT NULL`,
      [JSON.stringify(turns)],
    );
    return new Map(rows.map(({ s, t, scope_hints: hints }) => [`${s}|${t}`, hints]));
  }

  async insert(tx: Transaction, notices: readonly NoticeRow[]): Promise<void> {
    if (notices.length === 0) return;
    await tx.query(
      `INSERT INTO mailbox.notices (id, project, session, s, t, severity, status, signatures, summary, metrics, flagged_traces, scope_hints, recommended_scope, fingerprint, incident_id, episode_id, passage, posted_at)
       SELECT id, project, session, s, t, severity, status, ARRAY(SELECT json_array_elements_text(signatures)), summary, metrics, ARRAY(SELECT json_array_elements_text(flagged_traces)),
         scope_hints, recommended_scope, fingerprint, incident_id, episode_id, passage, 'epoch'::timestamptz + posted_us * interval '1 microsecond'
       FROM json_to_recordset($1::json) AS r(id text, project text, session text, s uuid, t bigint, severity text, status text, signatures json, summary text, metrics jsonb,
         flagged_traces json, scope_hints jsonb, recommended_scope text, fingerprint text, incident_id text, episode_id text, passage text, posted_us bigint) ORDER BY id`,
      [JSON.stringify(notices)],
    );
  }

  /** Corrected by later evidence, or standing again: the row stays, its status changes. */
  async setStatus(tx: Transaction, changes: readonly { id: string; status: NoticeStatus; corrections: number }[]): Promise<void> {
    if (changes.length === 0) return;
    await tx.query(
      `UPDATE mailbox.notices n SET status = r.status, corrections = r.corrections,
         resolution = CASE WHEN r.status = 'corrected' THEN jsonb_build_object('kind', 'corrected', 'rule_id', NULL, 'note', NULL, 'at', (extract(epoch FROM now()) * 1000000)::bigint) END
       FROM json_to_recordset($1::json) AS r(id text, status text, corrections int) WHERE n.id = r.id`,
      [JSON.stringify(changes)],
    );
  }

  async setContent(tx: Transaction, rows: readonly NoticeRow[]): Promise<void> {
    if (rows.length === 0) return;
    await tx.query(
      `UPDATE mailbox.notices n SET summary = r.summary, metrics = r.metrics, flagged_traces = ARRAY(SELECT json_array_elements_text(r.flagged_traces))
       FROM json_to_recordset($1::json) AS r(id text, summary text, metrics jsonb, flagged_traces json) WHERE n.id = r.id`,
      [JSON.stringify(rows.map(({ id, summary, metrics, flagged_traces }) => ({ id, summary, metrics, flagged_traces })))],
    );
  }

  async setEpisodes(tx: Transaction, changes: readonly { id: string; episode_id: string | null }[]): Promise<void> {
    if (changes.length === 0) return;
    await tx.query(
      'UPDATE mailbox.notices n SET episode_id = r.episode_id FROM json_to_recordset($1::json) AS r(id text, episode_id text) WHERE n.id = r.id',
      [JSON.stringify(changes)],
    );
  }
}
