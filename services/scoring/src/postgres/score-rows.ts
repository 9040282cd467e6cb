import { OUTCOME_METRIC, type Score, type Tier } from '#contracts';
import type { Transaction } from '#persistence';
import { boundedReason } from '../bounded-score.js';
import { emitScored } from './emit-scored.js';

interface Key {
  readonly s: string;
  readonly t: number;
}

export interface ScoreRow extends Key {
  readonly tier: Tier;
  readonly ordinal: number;
  readonly score: Score;
}

/** Scores are facts: the same key twice changes nothing but what a later answer corrects. */
export async function saveScores(tx: Transaction, rows: readonly ScoreRow[]): Promise<void> {
  if (rows.length === 0) return;
  const flat = rows.map(({ s, t, tier, ordinal, score }) => ({ s, t, tier, ordinal, ...score, trace: score.trace_id ?? '' }));
  await tx.query(
    `INSERT INTO scoring.scores (s, t, tier, trace, metric, source, evaluator, ordinal, status, value, reason, code, spans)
     SELECT s, t, tier, trace, metric, source, evaluator, ordinal, status, value, reason, code, ARRAY(SELECT json_array_elements_text(spans))
     FROM json_to_recordset($1::json) AS r(s uuid, t bigint, tier smallint, trace text, metric text, source text, evaluator text, ordinal int,
       status text, value float8, reason text, code text, spans json)
     ORDER BY s, t, trace, metric, evaluator
     ON CONFLICT (s, t, trace, metric, evaluator) DO UPDATE
       SET status = excluded.status, value = excluded.value, reason = excluded.reason, code = excluded.code, spans = excluded.spans, at = now()`,
    [JSON.stringify(flat)],
  );
}

interface Attached extends Key {
  readonly project: string;
  readonly session: string;
  readonly answer: number;
  readonly accepted_us: number;
  readonly config: string;
}

const POSTED_EVALUATOR = 'verifier/1';

/**
 * Verifier answers that came before their turn, or after it: whichever is second attaches. Each turn touched gets a new,
 * whole answer of tier 0.
 */
export async function attachPosted(tx: Transaction, keys: readonly Key[]): Promise<void> {
  if (keys.length === 0) return;
  await attachWhere(tx, 'JOIN json_to_recordset($1::json) AS k(s uuid, t bigint) USING (s, t)', [
    JSON.stringify(keys.map(({ s, t }) => ({ s, t }))),
  ]);
}

/** The turn and the score were written beside each other and missed each other: found by looking again. */
export async function attachStrays(tx: Transaction): Promise<void> {
  await attachWhere(tx, '', []);
}

/** The metric is written out, not a parameter: so the partial index of what waits serves, and what was posted under other metrics costs nothing. */
async function attachWhere(tx: Transaction, join: string, parameters: readonly unknown[]): Promise<void> {
  const waiting = await tx.query<Key>(
    `SELECT s, t FROM scoring.posted_scores p JOIN scoring.turns USING (s, t) ${join} WHERE NOT attached AND metric = '${OUTCOME_METRIC}'
     ORDER BY s, t LIMIT 256 FOR UPDATE OF turns`,
    parameters,
  );
  if (waiting.length === 0) return;
  const keys = JSON.stringify(waiting);
  const marked = await tx.query(
    `UPDATE scoring.posted_scores p SET attached = true FROM json_to_recordset($1::json) AS k(s uuid, t bigint)
     WHERE p.s = k.s AND p.t = k.t AND NOT attached AND metric = '${OUTCOME_METRIC}' RETURNING p.s`,
    [keys],
  );
  if (marked.length === 0) return;
  const answered = await tx.query<Attached>(
    `UPDATE scoring.turns SET answered_0 = answered_0 + 1 FROM (SELECT DISTINCT s, t FROM json_to_recordset($1::json) AS k(s uuid, t bigint)) k, scoring.sessions x
     WHERE turns.s = k.s AND turns.t = k.t AND x.s = turns.s
     RETURNING turns.s, turns.t, turns.project, x.session, turns.answered_0 AS answer, turns.accepted_us, turns.config`,
    [keys],
  );
  const posted = await tx.query<Key & { trace: string; metric: string; value: number | null; reason: string | null }>(
    `SELECT p.s, p.t, p.trace, p.metric, p.value, p.reason FROM scoring.posted_scores p
     JOIN (SELECT DISTINCT s, t FROM json_to_recordset($1::json) AS k(s uuid, t bigint)) k USING (s, t)
     WHERE attached AND metric = '${OUTCOME_METRIC}' ORDER BY p.s, p.t, p.trace`,
    [keys],
  );
  for (const turn of answered) {
    const scores = posted.filter(({ s, t }) => s === turn.s && t === turn.t).map(toScore);
    await saveScores(
      tx,
      scores.map((score, ordinal) => ({ s: turn.s, t: turn.t, tier: 0, ordinal, score })),
    );
    emitScored(
      tx,
      { ...turn, acceptedAt: turn.accepted_us, configId: turn.config, partial: false },
      { tier: 0, answer: turn.answer, scores, signals: [] },
    );
  }
}

function toScore({
  trace,
  metric,
  value,
  reason,
}: {
  trace: string;
  metric: string;
  value: number | null;
  reason: string | null;
}): Score {
  return {
    metric,
    trace_id: trace === '' ? null : trace,
    status: value === null ? 'not_applicable' : 'scored',
    value,
    source: 'verifier',
    evaluator: POSTED_EVALUATOR,
    reason: boundedReason(reason),
    code: null,
    spans: [],
  };
}
