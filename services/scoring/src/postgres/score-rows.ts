import type { Score, Tier } from '#contracts';
import type { Transaction } from '#persistence';
import { keysJson, TURN_KEYS, type Key } from './turn-rows.js';

/** As TURN_KEYS, for tiers of turns. */
export const TIER_KEYS =
  '(SELECT * FROM json_to_recordset($1::json) AS r(s uuid, t bigint, tier smallint) LIMIT json_array_length($1::json)) AS k';

/** A turn and one of its tiers. */
export interface TierKey extends Key {
  readonly tier: Tier;
}

export const tierKeyOf = ({ s, t, tier }: TierKey): string => `${s}|${t}|${tier}`;

export interface ScoreRow extends TierKey {
  readonly ordinal: number;
  readonly score: Score;
  /** Whose answer a pending score waits for. */
  readonly provider: string | null;
}

/** Pending scores that nobody is asked for: no model is configured. They are given up in time like the others. */
export const NOBODY = 'nobody';

/** Scores are facts: the same key twice changes nothing but what a later answer corrects. */
export async function saveScores(tx: Transaction, rows: readonly ScoreRow[]): Promise<void> {
  if (rows.length === 0) return;
  const flat = rows.map(({ s, t, tier, ordinal, score, provider }) => ({
    ...{ s, t, tier, ordinal, ...score, provider },
    trace: score.trace_id ?? '',
  }));
  await tx.query(
    `INSERT INTO scoring.scores (s, t, tier, trace, metric, source, evaluator, ordinal, status, value, reason, code, spans, provider)
     SELECT s, t, tier, trace, metric, source, evaluator, ordinal, status, value, reason, code, ARRAY(SELECT json_array_elements_text(spans)), provider
     FROM json_to_recordset($1::json) AS r(s uuid, t bigint, tier smallint, trace text, metric text, source text, evaluator text, ordinal int,
       status text, value float8, reason text, code text, spans json, provider text)
     ORDER BY s, t, trace, metric, evaluator
     ON CONFLICT (s, t, trace, metric, evaluator) DO UPDATE
       SET status = excluded.status, value = excluded.value, reason = excluded.reason, code = excluded.code, spans = excluded.spans,
           provider = excluded.provider, at = now()`,
    [JSON.stringify(flat)],
  );
}

/** Scores of one tier of a turn about some of its traces, or about all. */
export interface TraceScores extends TierKey {
  readonly traces: readonly string[] | 'all';
}

/** What was said about traces that are not what they were. Values for whole turns stay. */
export async function forgetScores(tx: Transaction, about: readonly TraceScores[]): Promise<void> {
  await tx.query(
    `DELETE FROM scoring.scores c USING json_to_recordset($1::json) AS k(s uuid, t bigint, tier smallint, traces json)
     WHERE c.s = k.s AND c.t = k.t AND c.tier = k.tier AND c.trace <> ''
       AND (k.traces IS NULL OR c.trace IN (SELECT json_array_elements_text(k.traces)))`,
    [JSON.stringify(about.map(({ s, t, tier, traces }) => ({ s, t, tier, traces: traces === 'all' ? null : traces })))],
  );
}

type LoadedScore = TierKey & Omit<Score, 'trace_id'> & { readonly trace: string };

/** The scores of tiers, in their order. */
export async function loadScores(tx: Transaction, keys: readonly TierKey[]): Promise<Map<string, Score[]>> {
  const rows = await tx.query<LoadedScore>(
    `SELECT c.s, c.t, c.tier, c.trace, c.metric, c.source, c.evaluator, c.status, c.value, c.reason, c.code, c.spans
     FROM scoring.scores c JOIN ${TIER_KEYS} USING (s, t, tier)
     ORDER BY c.s, c.t, c.tier, c.ordinal, c.trace, c.metric, c.source, c.evaluator`,
    [tierKeysJson(keys)],
  );
  const scores = new Map<string, Score[]>(keys.map((key) => [tierKeyOf(key), []]));
  for (const { s, t, tier, trace, metric, source, evaluator, status, value, reason, code, spans } of rows) {
    const score: Score = { metric, trace_id: trace === '' ? null : trace, status, value, source, evaluator, reason, code, spans };
    scores.get(tierKeyOf({ s, t, tier }))?.push(score);
  }
  return scores;
}

export function tierKeysJson(keys: readonly TierKey[]): string {
  return JSON.stringify(keys.map(({ s, t, tier }) => ({ s, t, tier })));
}

/** Whoever changes what a turn's tiers say does it under the turn's row, in key order. */
export async function lockTurns(tx: Transaction, keys: readonly Key[]): Promise<void> {
  await tx.query(
    `SELECT t.s, t.t FROM scoring.turns t JOIN (SELECT DISTINCT s, t FROM ${TURN_KEYS}) k USING (s, t)
     ORDER BY t.s, t.t FOR UPDATE OF t`,
    [keysJson(keys)],
  );
}
