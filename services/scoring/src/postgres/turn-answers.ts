import type { Tier, Turn } from '#contracts';
import type { GateConfig } from '#domain/gate';
import type { Transaction } from '#persistence';
import { readBody } from '../decode-turn.js';
import { answerText, looksBack, scoreTier, signalsOf } from '../score-turn.js';
import { emitScored } from './emit-scored.js';
import { saveScores } from './score-rows.js';
import { keyOf, keysJson, type Key } from './turn-rows.js';

/** A turn whose tier is to be answered, with what the answer needs. */
export interface Answerable extends Key {
  readonly project: string;
  readonly turn: Turn;
  readonly acceptedAt: number;
  readonly configId: string;
  readonly config: GateConfig;
  readonly partial: boolean;
  readonly traceparent?: string | undefined;
}

/** How many earlier turns loop detection looks at. */
export const LOOK_BACK = 3;

export async function answerTurns(
  tx: Transaction,
  tier: Exclude<Tier, 0>,
  turns: readonly Answerable[],
  answers?: ReadonlyMap<string, number>,
): Promise<void> {
  if (turns.length === 0) return;
  const earlier = await earlierAnswers(
    tx,
    turns.filter(({ config }) => looksBack(config)),
  );
  const scored = turns.map((one) => ({ ...one, scores: scoreTier(one.turn, tier, one.config, earlier.get(keyOf(one)) ?? []) }));
  await saveScores(
    tx,
    scored.flatMap(({ s, t, scores }) => scores.map((score, ordinal) => ({ s, t, tier, ordinal, score }))),
  );
  for (const one of scored) {
    const signals = tier === 1 ? signalsOf(one.turn) : [];
    const answer = answers?.get(keyOf(one)) ?? 1;
    emitScored(tx, { ...one, session: one.turn.session_id }, { tier, answer, scores: one.scores, signals });
  }
}

/** Stored turns with their bodies, sorted by key. */
export async function loadTurns(tx: Transaction, keys: readonly Key[]): Promise<Answerable[]> {
  if (keys.length === 0) return [];
  const rows = await tx.query<
    Key & { project: string; accepted_us: number; config: string; doc: GateConfig; partial: boolean; body: Buffer }
  >(
    `SELECT t.s, t.t, t.project, t.accepted_us, t.config, c.doc, t.partial, b.body FROM json_to_recordset($1::json) AS k(s uuid, t bigint)
     JOIN scoring.turns t USING (s, t) JOIN scoring.turn_bodies b USING (s, t) JOIN scoring.configs c ON c.id = t.config ORDER BY t.s, t.t`,
    [keysJson(keys)],
  );
  return rows.map(({ s, t, project, accepted_us, config, doc, partial, body }) => ({
    ...{ s, t, project, partial, config: doc, configId: config, acceptedAt: accepted_us },
    turn: readBody(body),
  }));
}

/** Whoever looks at a session's earlier turns must not miss one that is being written beside it. */
export async function lockSessions(tx: Transaction, sessions: readonly string[]): Promise<void> {
  if (sessions.length > 0)
    await tx.query('SELECT s FROM scoring.sessions WHERE s = ANY($1::uuid[]) ORDER BY s FOR UPDATE', [sessions]);
}

/** The same for turns that are stored: their own configurations say who looks back. Before any lock on the turns themselves. */
export async function lockLookingBack(tx: Transaction, keys: readonly Key[]): Promise<void> {
  if (keys.length === 0) return;
  const rows = await tx.query<{ doc: GateConfig; sessions: string[] }>(
    `SELECT c.doc, array_agg(DISTINCT t.s::text) AS sessions FROM json_to_recordset($1::json) AS k(s uuid, t bigint)
     JOIN scoring.turns t USING (s, t) JOIN scoring.configs c ON c.id = t.config GROUP BY c.id`,
    [keysJson(keys)],
  );
  await lockSessions(
    tx,
    rows.flatMap(({ doc, sessions }) => (looksBack(doc) ? sessions : [])),
  );
}

/** Answer texts of up to three earlier turns, newest first, for turns whose metrics look back. */
async function earlierAnswers(tx: Transaction, turns: readonly Answerable[]): Promise<Map<string, string[]>> {
  const answers = new Map<string, string[]>();
  if (turns.length === 0) return answers;
  const rows = await tx.query<Key & { body: Buffer }>(
    `SELECT k.s, k.t, b.body FROM json_to_recordset($1::json) AS k(s uuid, t bigint)
     CROSS JOIN LATERAL (SELECT t, body FROM scoring.turn_bodies WHERE s = k.s AND t < k.t ORDER BY t DESC LIMIT ${LOOK_BACK}) b ORDER BY k.s, k.t, b.t DESC`,
    [keysJson(turns)],
  );
  for (const row of rows) answers.set(keyOf(row), [...(answers.get(keyOf(row)) ?? []), answerText(readBody(row.body))]);
  return answers;
}
