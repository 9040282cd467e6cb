import type { Trace } from '#contracts';
import type { Transaction } from '#persistence';
import { missingTraces, namedTraces } from '../named-in-turn.js';
import { joined, nameTraces, storeTurns, type Completed } from './named-traces.js';
import type { Answerable } from './open-tier.js';
import { loadTurns } from './stored-turns.js';
import { keyOf, keysJson, type ConfiguredTurn, type Key } from './turn-rows.js';

/** As many traces as a turn may hold (the contract of `turn.ended`). */
const TRACES_MAX = 1_000;

interface LaterTraces {
  /** Turns with traces that a later body carries; `scored` ones have been looked at without them. */
  readonly carried: readonly Completed[];
  /** Turns for which a later body names traces. */
  readonly named: readonly Key[];
}

/**
 * A second body of a turn changes nothing of the first, but the traces that it adds are late traces of the turn: those that it carries
 * are joined to it, those that it names are waited for. A skipped turn stays as it is. The turns are locked by the caller.
 */
export async function laterTraces(tx: Transaction, later: readonly ConfiguredTurn[]): Promise<LaterTraces> {
  const adding = later.filter(({ turn }) => (turn.traces ?? []).length > 0 || missingTraces(turn).length > 0);
  if (adding.length === 0) return { carried: [], named: [] };
  const states = await statesOf(tx, adding);
  const stored = new Map((await loadTurns(tx, distinct(adding))).map((one) => [keyOf(one), one]));
  const carried: Completed[] = [];
  const named: ConfiguredTurn[] = [];
  for (const one of adding) {
    const turn = stored.get(keyOf(one));
    if (turn === undefined || states.get(keyOf(one)) === 'skipped') continue;
    const added = newTraces(turn, one);
    if (added.length > 0) {
      const joint = {
        ...turn,
        turn: joined(
          turn.turn,
          added.map((trace) => ({ trace, tools: [] })),
        ),
      };
      stored.set(keyOf(one), joint);
      carried.push({ ...joint, added });
    }
    const known = namedTraces(turn.turn);
    if (missingTraces(one.turn).some((id) => !known.has(id))) named.push(one);
  }
  await storeTurns(tx, carried);
  await nameTraces(tx, named);
  return { carried: carried.filter((one) => states.get(keyOf(one)) === 'scored'), named };
}

function newTraces({ turn }: Answerable, later: ConfiguredTurn): Trace[] {
  const known = new Set((turn.traces ?? []).map(({ trace_id: id }) => id));
  return (later.turn.traces ?? []).filter(({ trace_id: id }) => !known.has(id)).slice(0, Math.max(0, TRACES_MAX - known.size));
}

async function statesOf(tx: Transaction, keys: readonly Key[]): Promise<Map<string, 'skipped' | 'scored' | 'waiting'>> {
  const rows = await tx.query<Key & { state: 'skipped' | 'scored' | 'waiting' }>(
    `SELECT t.s, t.t, CASE WHEN t.skipped IS NOT NULL THEN 'skipped' WHEN t.wait_until IS NOT NULL THEN 'waiting' ELSE 'scored' END AS state
     FROM scoring.turns t JOIN (SELECT DISTINCT s, t FROM json_to_recordset($1::json) AS r(s uuid, t bigint)) k USING (s, t)`,
    [keysJson(keys)],
  );
  return new Map(rows.map((row) => [keyOf(row), row.state]));
}

function distinct(keys: readonly Key[]): Key[] {
  return [...new Map(keys.map(({ s, t }) => [keyOf({ s, t }), { s, t }])).values()];
}
