import type { Transaction } from '#persistence';
import { readBody } from '../decode-turn.js';
import { looksBack } from '../score-tier.js';
import type { TurnConfig } from '../turn-config.js';
import type { Answerable } from './open-tier.js';
import { keysJson, type Key } from './turn-rows.js';

/** Stored turns with their bodies, sorted by key. */
export async function loadTurns(tx: Transaction, keys: readonly Key[]): Promise<Answerable[]> {
  if (keys.length === 0) return [];
  const rows = await tx.query<
    Key & { project: string; accepted_us: number; config: string; doc: TurnConfig; partial: boolean; body: Buffer }
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
  const rows = await tx.query<{ doc: TurnConfig; sessions: string[] }>(
    `SELECT c.doc, array_agg(DISTINCT t.s::text) AS sessions FROM json_to_recordset($1::json) AS k(s uuid, t bigint)
     JOIN scoring.turns t USING (s, t) JOIN scoring.configs c ON c.id = t.config GROUP BY c.id`,
    [keysJson(keys)],
  );
  await lockSessions(
    tx,
    rows.flatMap(({ doc, sessions }) => (looksBack(doc) ? sessions : [])),
  );
}
