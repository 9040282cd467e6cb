import type { Score, Tier } from '#contracts';
import type { Transaction } from '#persistence';
import { readBody } from '../decode-turn.js';
import { signalsOf } from '../score-tier.js';
import { emitScored } from './emit-scored.js';
import { isPending } from './open-tier.js';
import { loadScores, lockTurns, NOBODY, tierKeyOf, tierKeysJson, type TierKey } from './score-rows.js';
import { keyOf, type Key } from './turn-rows.js';

type CostlyTier = Exclude<Tier, 0>;

interface Answered extends Key {
  readonly tier: CostlyTier;
  readonly answer: number;
  readonly project: string;
  readonly session: string;
  readonly accepted_us: number;
  readonly config: string;
  readonly partial: boolean;
}

/**
 * Something changed in these tiers: those that wait for nothing more are answered, and those that were answered before are
 * answered again, whole. `due`: their time is over, and they are answered with the rest pending. Under the turns' rows.
 */
export async function settleTiers(tx: Transaction, keys: readonly TierKey[], due = false): Promise<void> {
  if (keys.length === 0) return;
  const ready = due ? keys : await withoutWaiting(tx, keys);
  if (ready.length === 0) return;
  const traces = await endWaits(tx, ready);
  const answered: Answered[] = [];
  for (const tier of [1, 2, 3] as const) {
    const own = ready.filter((key) => key.tier === tier);
    if (own.length > 0) answered.push(...(await countAnswers(tx, tier, own)));
  }
  await emitTiers(tx, answered, traces);
}

/** Tiers whose time is over are answered with the rest pending; returns how many. */
export async function answerDue(tx: Transaction, most: number): Promise<number> {
  const due = await tx.query<TierKey>('SELECT s, t, tier FROM scoring.tier_waits WHERE until <= now() ORDER BY until LIMIT $1', [
    most,
  ]);
  if (due.length === 0) return 0;
  await lockTurns(tx, due);
  // Somebody else may have answered them until the rows were ours.
  const still = await tx.query<TierKey>(
    `SELECT w.s, w.t, w.tier FROM scoring.tier_waits w JOIN json_to_recordset($1::json) AS k(s uuid, t bigint, tier smallint) USING (s, t, tier)`,
    [tierKeysJson(due)],
  );
  await settleTiers(tx, still, true);
  return due.length;
}

/** Keys of which no score waits for anybody, and those whose wait is over already. */
async function withoutWaiting(tx: Transaction, keys: readonly TierKey[]): Promise<TierKey[]> {
  return tx.query<TierKey>(
    `SELECT DISTINCT k.s, k.t, k.tier FROM json_to_recordset($1::json) AS k(s uuid, t bigint, tier smallint)
     WHERE NOT EXISTS (SELECT 1 FROM scoring.tier_waits w WHERE w.s = k.s AND w.t = k.t AND w.tier = k.tier)
        OR NOT EXISTS (SELECT 1 FROM scoring.scores c WHERE c.s = k.s AND c.t = k.t AND c.tier = k.tier AND c.status = 'pending' AND c.provider <> '${NOBODY}')
     ORDER BY k.s, k.t, k.tier`,
    [tierKeysJson(keys)],
  );
}

/** Trace contexts of the waits that end here. */
async function endWaits(tx: Transaction, keys: readonly TierKey[]): Promise<Map<string, string>> {
  const rows = await tx.query<TierKey & { traceparent: string | null }>(
    `DELETE FROM scoring.tier_waits w USING json_to_recordset($1::json) AS k(s uuid, t bigint, tier smallint)
     WHERE w.s = k.s AND w.t = k.t AND w.tier = k.tier RETURNING w.s, w.t, w.tier, w.traceparent`,
    [tierKeysJson(keys)],
  );
  return new Map(rows.flatMap((row) => (row.traceparent === null ? [] : [[tierKeyOf(row), row.traceparent]])));
}

function countAnswers(tx: Transaction, tier: CostlyTier, keys: readonly TierKey[]): Promise<Answered[]> {
  return tx.query<Answered>(
    `UPDATE scoring.turns SET answered_${tier} = answered_${tier} + 1
     FROM (SELECT DISTINCT s, t FROM json_to_recordset($1::json) AS r(s uuid, t bigint)) k, scoring.sessions x
     WHERE turns.s = k.s AND turns.t = k.t AND x.s = turns.s
     RETURNING turns.s, turns.t, ${tier} AS tier, answered_${tier} AS answer, turns.project, x.session, turns.accepted_us, turns.config, turns.partial`,
    [tierKeysJson(keys)],
  );
}

async function emitTiers(tx: Transaction, answered: readonly Answered[], traces: ReadonlyMap<string, string>): Promise<void> {
  const scores = await loadScores(tx, answered);
  const signals = await signalsOfTurns(
    tx,
    answered.filter(({ tier }) => tier === 1),
  );
  for (const turn of answered) {
    const own: Score[] = scores.get(tierKeyOf(turn)) ?? [];
    const { s, t, tier, answer, project, session, accepted_us: acceptedAt, config: configId, partial } = turn;
    emitScored(
      tx,
      { s, t, project, session, acceptedAt, configId, partial, traceparent: traces.get(tierKeyOf(turn)) },
      { tier, answer, scores: own, signals: tier === 1 ? (signals.get(keyOf(turn)) ?? []) : [], pending: isPending(own) },
    );
  }
}

/** A body that cannot be read any more has no signals: its tier is answered all the same. */
function signalsIn(body: Buffer): ReturnType<typeof signalsOf> {
  try {
    return signalsOf(readBody(body));
  } catch {
    return [];
  }
}

async function signalsOfTurns(tx: Transaction, keys: readonly Key[]): Promise<Map<string, ReturnType<typeof signalsOf>>> {
  if (keys.length === 0) return new Map();
  const rows = await tx.query<Key & { body: Buffer }>(
    'SELECT s, t, body FROM scoring.turn_bodies JOIN json_to_recordset($1::json) AS k(s uuid, t bigint) USING (s, t)',
    [JSON.stringify(keys.map(({ s, t }) => ({ s, t })))],
  );
  return new Map(rows.map((row) => [keyOf(row), signalsIn(row.body)]));
}
