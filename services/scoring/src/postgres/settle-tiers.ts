import type { Score, Tier } from '#contracts';
import type { Transaction } from '#persistence';
import { readBody } from '../decode-turn.js';
import { signalsOf } from '../score-tier.js';
import { emitScored } from './emit-scored.js';
import { isPending } from './open-tier.js';
import { loadScores, lockTurns, NOBODY, tierKeyOf, tierKeysJson, TIER_KEYS, type TierKey } from './score-rows.js';
import { keyOf, keysJson, TURN_KEYS, type Key } from './turn-rows.js';

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
    `SELECT w.s, w.t, w.tier FROM scoring.tier_waits w JOIN ${TIER_KEYS} USING (s, t, tier)`,
    [tierKeysJson(due)],
  );
  await settleTiers(tx, still, true);
  return due.length;
}

/** Keys of which no score waits for anybody, and those whose wait is over already. */
async function withoutWaiting(tx: Transaction, keys: readonly TierKey[]): Promise<TierKey[]> {
  return tx.query<TierKey>(
    `SELECT DISTINCT k.s, k.t, k.tier FROM ${TIER_KEYS}
     WHERE NOT EXISTS (SELECT 1 FROM scoring.tier_waits w WHERE w.s = k.s AND w.t = k.t AND w.tier = k.tier)
        OR NOT EXISTS (SELECT 1 FROM scoring.scores c WHERE c.s = k.s AND c.t = k.t AND c.tier = k.tier AND c.status = 'pending' AND c.provider <> '${NOBODY}')
     ORDER BY k.s, k.t, k.tier`,
    [tierKeysJson(keys)],
  );
}

/** Trace contexts of the waits that end here. */
async function endWaits(tx: Transaction, keys: readonly TierKey[]): Promise<Map<string, string>> {
  const rows = await tx.query<TierKey & { traceparent: string | null }>(
    `DELETE FROM scoring.tier_waits w USING ${TIER_KEYS}
     WHERE w.s = k.s AND w.t = k.t AND w.tier = k.tier RETURNING w.s, w.t, w.tier, w.traceparent`,
    [tierKeysJson(keys)],
  );
  return new Map(rows.flatMap((row) => (row.traceparent === null ? [] : [[tierKeyOf(row), row.traceparent]])));
}

function countAnswers(tx: Transaction, tier: CostlyTier, keys: readonly TierKey[]): Promise<Answered[]> {
  return tx.query<Answered>(
    `UPDATE scoring.turns SET answered_${tier} = answered_${tier} + 1
     FROM (SELECT DISTINCT s, t FROM ${TIER_KEYS}) k, scoring.sessions x
     WHERE turns.s = k.s AND turns.t = k.t AND x.s = turns.s
     RETURNING turns.s, turns.t, ${tier} AS tier, answered_${tier} AS answer, turns.project, x.session, turns.accepted_us, turns.config, turns.partial`,
    [tierKeysJson(keys)],
  );
}

async function emitTiers(tx: Transaction, answered: readonly Answered[], traces: ReadonlyMap<string, string>): Promise<void> {
  const scores = await loadScores(tx, answered);
  const bodies = await readBodies(tx, answered.filter(tier1));
  for (const turn of answered) {
    const { signals, order } = bodies.get(keyOf(turn)) ?? NOTHING;
    const stored: Score[] = scores.get(tierKeyOf(turn)) ?? [];
    const own = tier1(turn) ? inTraceOrder(stored, order) : stored;
    const { s, t, tier, answer, project, session, accepted_us: acceptedAt, config: configId, partial } = turn;
    emitScored(
      tx,
      { s, t, project, session, acceptedAt, configId, partial, traceparent: traces.get(tierKeyOf(turn)) },
      { tier, answer, scores: own, signals, pending: isPending(own) },
    );
  }
}

interface Body {
  readonly signals: ReturnType<typeof signalsOf>;
  /** Place of each trace in the turn: one that came late stands where it began. */
  readonly order: ReadonlyMap<string, number>;
}

const NOTHING: Body = { signals: [], order: new Map() };

function tier1({ tier }: Pick<Answered, 'tier'>): boolean {
  return tier === 1;
}

function inTraceOrder(scores: readonly Score[], order: ReadonlyMap<string, number>): Score[] {
  const place = ({ trace_id: id }: Score): number => (id === null ? -1 : (order.get(id) ?? order.size));
  return [...scores].sort((a, b) => place(a) - place(b));
}

async function readBodies(tx: Transaction, keys: readonly Key[]): Promise<Map<string, Body>> {
  if (keys.length === 0) return new Map();
  const rows = await tx.query<Key & { body: Buffer }>(
    `SELECT s, t, body FROM scoring.turn_bodies JOIN ${TURN_KEYS} USING (s, t)`,
    [keysJson(keys)],
  );
  return new Map(rows.map((row) => [keyOf(row), bodyOf(row.body)]));
}

/** A body that cannot be read any more has no signals: its tier is answered all the same. */
function bodyOf(body: Buffer): Body {
  try {
    const turn = readBody(body);
    return { signals: signalsOf(turn), order: new Map((turn.traces ?? []).map(({ trace_id: id }, place) => [id, place])) };
  } catch {
    return NOTHING;
  }
}
