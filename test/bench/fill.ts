import pg from 'pg';
import { benchTurn } from './turns.js';

const TURNS_PER_SESSION = 100;
const CHUNK = 20_000;

/** Stored turns as the services leave them: skeleton, body, two scores and a decision each, ten thousand sessions to a million turns. */
export async function fillStore(databaseUrl: string, turns: number): Promise<void> {
  const db = new pg.Client(databaseUrl);
  await db.connect();
  const body = Buffer.from(benchTurn({ sessions: 1, bytes: 8_192, failingEvery: 0 }, 0, 'fill'));
  for (let from = 0; from < turns; from += CHUNK) {
    await db.query('BEGIN');
    await db.query(
      'CREATE TEMP TABLE chunk ON COMMIT DROP AS SELECT md5((n / $1)::text)::uuid AS s, n % $1 AS t, n FROM generate_series($2::bigint, $3::bigint) AS n',
      [TURNS_PER_SESSION, from, Math.min(turns, from + CHUNK) - 1],
    );
    for (const sql of FILL) await db.query(sql);
    // Other bytes in every body, so that nothing is compressed away.
    await db.query(
      `INSERT INTO scoring.turn_bodies SELECT s, t, convert_to(md5(n::text) || md5((n + 1)::text), 'UTF8') || $1::bytea FROM chunk`,
      [body],
    );
    await db.query('COMMIT');
  }
  await db.query('VACUUM ANALYZE');
  await db.end();
}

const SCORE = `jsonb_build_object('metric', m, 'trace_id', md5(n::text), 'status', 'scored', 'value', 1, 'source', 'check', 'evaluator', 'check/1', 'reason', 'A final answer is present and no tool error was left.', 'code', NULL, 'spans', '[]'::jsonb)`;

const FILL = [
  `INSERT INTO scoring.sessions (s, project, session, agent) SELECT DISTINCT s, 'default', 'fill-' || s, 'agent' FROM chunk ON CONFLICT DO NOTHING`,
  `INSERT INTO gating.heads (s, project, session, last_t) SELECT s, 'default', 'fill-' || s, max(t) FROM chunk GROUP BY s ON CONFLICT DO NOTHING`,
  `INSERT INTO scoring.turns (s, t, project, accepted_us, body_sha, config, answered_1)
   SELECT s, t, 'default', 1760000000000000 + n * 1000, decode(md5(n::text) || md5(n::text), 'hex'), (SELECT id FROM scoring.configs LIMIT 1), 1 FROM chunk`,
  `INSERT INTO scoring.scores (s, t, tier, trace, metric, source, evaluator, ordinal, status, value, reason)
   SELECT s, t, 1, md5(n::text), m, 'check', 'check/1', 0, 'scored', 1, 'A final answer is present and no tool error was left.' FROM chunk, unnest(ARRAY['task_completion', 'coherence']) AS m`,
  `INSERT INTO gating.turn_evals (s, t, accepted_us, config, evidence, signals, partial, state, fired, standing, measured, rev, digest)
   SELECT s, t, 1760000000000000 + n * 1000, (SELECT id FROM scoring.configs LIMIT 1),
     jsonb_build_object('1', jsonb_build_object('answer', 1, 'pending', false, 'scores', (SELECT jsonb_agg(${SCORE}) FROM unnest(ARRAY['task_completion', 'coherence']) AS m))),
     '[]', false, '{"tracks":{"task_completion@check":{"peak":1,"turnsSinceGain":3},"coherence@lexical":{"peak":0.6,"turnsSinceGain":2}},"standing":[]}', '{}', '{}', true, 1, md5(n::text) FROM chunk`,
];
