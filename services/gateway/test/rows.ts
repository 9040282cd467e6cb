import { sessionKey } from '#domain/ids';
import type { TestDatabase } from '#testing';

/** Rows as the services write them, for reading them back. Times in seconds after this moment. */
const START_US = 1_790_000_000_000_000;
export const at = (second: number): number => START_US + second * 1_000_000;
const instant = (parameter: string): string => `('epoch'::timestamptz + ${parameter}::bigint * interval '1 microsecond')`;

export async function insertSession(
  db: TestDatabase,
  session: string,
  more: { project?: string; agent?: string; second?: number; standing?: string[]; peaks?: Record<string, number> } = {},
): Promise<void> {
  const { project = 'default', agent = null, second = 0, standing = [], peaks = {} } = more;
  const s = sessionKey(project, session);
  await db.query(
    `INSERT INTO scoring.sessions (s, project, session, agent, first_at) VALUES ($1, $2, $3, $4, ${instant('$5')})`,
    [s, project, session, agent, at(second)],
  );
  const state = {
    tracks: Object.fromEntries(Object.entries(peaks).map(([track, peak]) => [track, { peak, turnsSinceGain: 0 }])),
    standing: standing.map((signature) => ({ signature, track: '' })),
  };
  await db.query('INSERT INTO gating.heads (s, project, session, last_t, state, alerting) VALUES ($1, $2, $3, 0, $4, $5)', [
    s,
    project,
    session,
    JSON.stringify(state),
    standing.length > 0,
  ]);
}

export async function insertTurn(
  db: TestDatabase,
  session: string,
  t: number,
  more: { value: number; fired?: string[] },
): Promise<void> {
  const { value, fired = [] } = more;
  const s = sessionKey('default', session);
  await db.query(
    `INSERT INTO scoring.turns (s, t, project, accepted_us, body_sha, config, model) VALUES ($1, $2, 'default', $3, '\\x00', 'c', 'm-1')`,
    [s, t, at(t)],
  );
  await db.query(
    `INSERT INTO gating.turn_evals (s, t, accepted_us, config, evidence, signals, partial, state, fired, standing, measured, rev)
     VALUES ($1, $2, $3, 'c', '{}', '[]', false, '{}', $4, $4, true, 1)`,
    [s, t, at(t), fired],
  );
  await db.query(
    `INSERT INTO scoring.scores (s, t, tier, trace, metric, source, evaluator, ordinal, status, value, reason)
     VALUES ($1, $2, 1, 'trace-1', 'coherence', 'lexical', 'coherence/1', 0, 'scored', $3, 'because'),
            ($1, $2, 0, '', 'outcome_correct', 'verifier', 'verifier/1', 0, 'pending', NULL, NULL)`,
    [s, t, value],
  );
}

export async function insertNotice(
  db: TestDatabase,
  id: string,
  more: { session?: string; t?: number; severity?: string; status?: string; second?: number; project?: string } = {},
): Promise<void> {
  const { session = 'noticed', t = 0, severity = 'breach', status = 'pending', second = 0, project = 'default' } = more;
  await db.query(
    `INSERT INTO mailbox.notices (id, project, session, s, t, severity, status, signatures, summary, metrics, flagged_traces, scope_hints, passage, posted_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'summary', '[]', '{trace-1}', '[]', $10, ${instant('$9')})`,
    [
      id,
      project,
      session,
      sessionKey(project, session),
      t,
      severity,
      status,
      [`breach:${id}`],
      at(second),
      status === 'suppressed' ? 'suppress' : 'post',
    ],
  );
}

export async function insertEpisode(db: TestDatabase, id: string, second: number, notices: string[]): Promise<void> {
  await db.query(
    `INSERT INTO mailbox.incidents (id, project, status, opened_by, opened_at) VALUES ($1, 'default', 'open', $2, ${instant('$3')})`,
    [`i-${id}`, id, at(second)],
  );
  await db.query(
    `INSERT INTO mailbox.episodes (id, project, s, t, session, incident_id, notice_ids, opened_at) VALUES ($1, 'default', $2, 0, 'noticed', $3, $4, ${instant('$5')})`,
    [id, sessionKey('default', 'noticed'), `i-${id}`, notices, at(second)],
  );
}

export async function insertEvent(
  db: TestDatabase,
  id: string,
  { type, second, session = null }: { type: string; second: number; session?: string | null },
): Promise<void> {
  await db.query(
    `INSERT INTO journal.events (id, project, at, type, s, session, doc) VALUES ($1, 'default', ${instant('$2')}, $3, $4, $5, '{"a": 1}')`,
    [id, at(second), type, session === null ? null : sessionKey('default', session), session],
  );
}

export async function insertKey(
  db: TestDatabase,
  text: string,
  scopes: string[],
  more: { project?: string; expires?: string } = {},
): Promise<void> {
  await db.query(
    `INSERT INTO edge.api_keys (id, project, name, hash, scopes, expires_at) VALUES (md5($1), $2, 'made by hand', sha256(convert_to($1, 'UTF8')), $3, $4)`,
    [text, more.project ?? 'default', scopes, more.expires ?? null],
  );
}
