import type { Reader } from '../postgres/reader.js';

/** Puts one line into a project's dump. */
export type AddLine = (project: string, ...line: readonly unknown[]) => void;

type Row = { project: string; kind: string; session: string; doc: unknown };

/** Tiers 2 and 3 count only while the gate asks for them; a shuffled run may have asked on its way for what nobody needs now. */
const SCORES = `
SELECT x.project, 'score' AS kind, x.session,
  jsonb_build_array(c.t, c.tier, c.trace, c.metric, c.source, c.evaluator, c.ordinal, c.status, c.value, c.reason, c.code, c.spans) AS doc
FROM scoring.scores c JOIN scoring.sessions x USING (s) JOIN gating.turn_evals e USING (s, t)
WHERE c.tier <= 1
  OR c.tier = 2 AND EXISTS (SELECT 1 FROM unnest(e.fired) AS f WHERE f LIKE 'stall:%' OR f LIKE 'regression:%')
  OR c.tier = 3 AND EXISTS (SELECT 1 FROM unnest(e.fired) AS f WHERE f LIKE 'breach:%')`;

const TURNS = `
SELECT x.project, 'accepted' AS kind, x.session,
  jsonb_build_array(t.t, encode(t.body_sha, 'hex'), t.partial, t.skipped, t.end_state, t.scope_hints) AS doc
FROM scoring.turns t JOIN scoring.sessions x USING (s)`;

const HEADS = `SELECT project, 'head' AS kind, session, jsonb_build_array(last_t, state, alerting) AS doc FROM gating.heads`;

const NOTICES = `
SELECT project, 'notice' AS kind, session,
  jsonb_build_array(t, signatures, severity, status, summary, metrics, flagged_traces, scope_hints, recommended_scope) AS doc
FROM mailbox.notices WHERE status <> 'corrected'`;

/** Whether a worker has taken an episode up is a matter of time; how it ended is not. */
const EPISODES = `
SELECT e.project, 'episode' AS kind, e.session,
  jsonb_build_array(e.t, CASE WHEN e.status = 'settled' THEN e.outcome ->> 'status' ELSE 'live' END, e.recommended_scope,
    (SELECT jsonb_agg(jsonb_build_array(n.t, n.signatures) ORDER BY n.t, n.signatures) FROM mailbox.notices n WHERE n.id = ANY(e.notice_ids))) AS doc
FROM mailbox.episodes e WHERE e.status <> 'void'`;

const MEMORIES = `
SELECT project, 'alerting' AS kind, session, memory AS doc FROM mailbox.session_alerts WHERE nullif(memory, 'null') IS NOT NULL`;

/** What is compared as it is stored. */
export async function rowLines(reader: Reader, project: string | undefined, add: AddLine): Promise<void> {
  for (const sql of [TURNS, SCORES, HEADS, NOTICES, EPISODES, MEMORIES]) {
    const rows = reader.rows<Row>(`SELECT * FROM (${sql}) lines WHERE $1::text IS NULL OR project = $1`, [project ?? null]);
    for await (const row of rows) add(row.project, row.kind, row.session, row.doc);
  }
}
