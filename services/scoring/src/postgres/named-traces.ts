import type { Trace, Turn } from '#contracts';
import { cutToFit, stringifyTurn } from '#ingest';
import { assembleTrace, type AssembledTrace } from '#otlp';
import type { Transaction } from '#persistence';
import type { Answerable } from './open-tier.js';
import { loadSpans, lockTraces, traceKeys, traceName, tracesJson, type TraceKey } from './otel-spans.js';
import { missingTraces } from '../named-in-turn.js';
import { keyOf, keysJson, mixedTurns, type ConfiguredTurn, type Key } from './turn-rows.js';

/** Larger turns are cut by the digest rule, as the gateway does. */
const TURN_BYTES_MAX = 16 * 1024 * 1024;

/** What one read of traces may take, and one turn of the traces that it names: beyond it a turn is scored without them. */
const READ_BYTES_MAX = 64 * 1024 * 1024;
const TRACE_SPANS_MAX = 20_000;

/**
 * Locks the traces that turns name, in key order, beside those that they will name. All that a transaction is going to touch at once:
 * after the turns, before jobs.
 */
export async function lockNamed(tx: Transaction, keys: readonly Key[], naming: readonly ToName[] = []): Promise<void> {
  const named = naming.flatMap(({ project, turn }) => missingTraces(turn).map((trace_id) => ({ project, trace_id })));
  const known =
    keys.length === 0
      ? []
      : await tx.query<TraceKey>(
          'SELECT DISTINCT n.project, n.trace_id FROM scoring.named_traces n JOIN json_to_recordset($1::json) AS k(s uuid, t bigint) USING (s, t)',
          [keysJson(keys)],
        );
  if (named.length + known.length > 0) await lockTraces(tx, traceKeys([...named, ...known]));
}

export type ToName = Pick<ConfiguredTurn, 'project' | 'turn'>;

/**
 * New turns name traces: from now on these are theirs. Returns the turns whose traces are all there already. A trace that has made
 * a turn by itself (`otlp_turns`) is in two turns then; the project mixes both ways, and is told. The traces are locked by the caller.
 */
export async function nameTraces(
  tx: Transaction,
  turns: readonly Pick<ConfiguredTurn, 's' | 't' | 'project' | 'turn'>[],
): Promise<Key[]> {
  const named = turns.flatMap(({ s, t, project, turn }) =>
    missingTraces(turn).map((trace_id) => ({ s, t, project, trace_id, session: turn.session_id })),
  );
  if (named.length === 0) return [];
  await tx.query(
    `INSERT INTO scoring.named_traces (project, trace_id, s, t) SELECT project, trace_id, s, t
     FROM json_to_recordset($1::json) AS r(project text, trace_id text, s uuid, t bigint) ORDER BY 1, 2, 3, 4 ON CONFLICT DO NOTHING`,
    [JSON.stringify(named)],
  );
  const turned = await tx.query<TraceKey>(
    `UPDATE scoring.otel_traces x SET state = CASE WHEN x.state = 'turned' THEN x.state ELSE 'named' END, reason = NULL, quiet_at = CASE WHEN x.orphans > 0 THEN x.quiet_at END,
       s = coalesce(x.s, r.s), t = CASE WHEN x.s IS NULL THEN r.t ELSE x.t END
     FROM (SELECT DISTINCT ON (project, trace_id) project, trace_id, s, t FROM json_to_recordset($1::json) AS r(project text, trace_id text, s uuid, t bigint)
       ORDER BY project, trace_id, s, t) r
     WHERE x.project = r.project AND x.trace_id = r.trace_id AND x.state <> 'scored' RETURNING x.project, x.trace_id, x.state = 'turned' AS mixed`,
    [JSON.stringify(named)],
  );
  const mixed = new Set((turned as (TraceKey & { mixed: boolean })[]).filter((one) => one.mixed).map(traceName));
  for (const { project, trace_id, s, t, session } of named.filter((one) => mixed.has(traceName(one))))
    tx.journal(mixedTurns({ s, t, project, session, trace_id }));
  return whollyNamed(tx, turns);
}

/** Those of these turns whose named traces have all come, root and every parent. */
export function whollyNamed(tx: Transaction, keys: readonly Key[]): Promise<Key[]> {
  return tx.query<Key>(
    `SELECT k.s, k.t FROM json_to_recordset($1::json) AS k(s uuid, t bigint)
     WHERE EXISTS (SELECT 1 FROM scoring.named_traces n WHERE n.s = k.s AND n.t = k.t) AND NOT EXISTS (
       SELECT 1 FROM scoring.named_traces n JOIN scoring.otel_traces x USING (project, trace_id)
       WHERE n.s = k.s AND n.t = k.t AND NOT (x.root AND x.orphans = 0))
     ORDER BY k.s, k.t`,
    [keysJson(keys)],
  );
}

/** Turns that name these traces: `waiting` ones with all their traces there, and `answered` ones that were scored without a part of some. */
export async function turnsNaming(tx: Transaction, traces: readonly TraceKey[]): Promise<{ waiting: Key[]; answered: Key[] }> {
  const rows = await tx.query<Key & { waits: boolean }>(
    `SELECT DISTINCT t.s, t.t, t.wait_until IS NOT NULL AS waits FROM scoring.named_traces n JOIN json_to_recordset($1::json) AS k(project text, trace_id text) USING (project, trace_id)
     JOIN scoring.turns t ON t.s = n.s AND t.t = n.t WHERE t.wait_until IS NOT NULL OR (t.skipped IS NULL AND EXISTS (
       SELECT 1 FROM scoring.named_traces m WHERE m.s = t.s AND m.t = t.t AND m.taken IS NOT TRUE)) ORDER BY t.s, t.t`,
    [tracesJson(traces)],
  );
  const complete = new Set((await whollyNamed(tx, rows)).map(keyOf));
  const of = (waits: boolean): Key[] =>
    rows.filter((row) => row.waits === waits && complete.has(keyOf(row))).map(({ s, t }) => ({ s, t }));
  return { waiting: of(true), answered: of(false) };
}

/** What waiting is for is there: they are due now. */
export async function endTraceWait(tx: Transaction, keys: readonly Key[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.query(
    `UPDATE scoring.turns t SET wait_until = now() FROM json_to_recordset($1::json) AS k(s uuid, t bigint)
     WHERE t.s = k.s AND t.t = k.t AND t.wait_until > now()`,
    [keysJson(keys)],
  );
}

export type Completed = Answerable & { readonly added: readonly Trace[] };

/** Keys in groups whose turns, with the traces that they name, are read at once: as many as fit, at least one. */
export async function inReads(tx: Transaction, keys: readonly Key[]): Promise<Key[][]> {
  if (keys.length === 0) return [];
  const rows = await tx.query<Key & { bytes: number }>(
    `SELECT k.s, k.t, (least(${READ_BYTES_MAX}, coalesce((SELECT sum(x.bytes) FROM scoring.named_traces n JOIN scoring.otel_traces x USING (project, trace_id)
       WHERE n.s = k.s AND n.t = k.t), 0)) + coalesce((SELECT octet_length(b.body) FROM scoring.turn_bodies b WHERE b.s = k.s AND b.t = k.t), 0))::bigint AS bytes
     FROM (SELECT DISTINCT s, t FROM json_to_recordset($1::json) AS r(s uuid, t bigint)) k ORDER BY k.s, k.t`,
    [keysJson(keys)],
  );
  const groups: Key[][] = [];
  let room = 0;
  for (const { s, t, bytes } of rows) {
    const last = groups.at(-1);
    if (last === undefined || bytes > room) {
      groups.push([{ s, t }]);
      room = READ_BYTES_MAX;
    } else last.push({ s, t });
    room -= bytes;
  }
  return groups;
}

/**
 * Gives turns the named traces that have come, as far as they have, and stores them so; one that was taken in part before is replaced.
 * `partial` where one is missing, or not whole, or too large. The turns and their traces are locked by the caller.
 */
export async function withNamedTraces(tx: Transaction, turns: readonly Answerable[]): Promise<Completed[]> {
  const named = await namesOf(tx, turns);
  if (named.size === 0) return turns.map((one) => ({ ...one, added: [] }));
  const names = [...named.values()].flat();
  const spans = await loadSpans(tx, traceKeys(names.filter(({ fits, wanted }) => fits && wanted)));
  const assembled = new Map([...spans].map(([name, own]) => [name, assembleTrace(own)]));
  const complete = new Set((await whollyNamed(tx, turns)).map(keyOf));
  const completed = turns.map((one): Completed => {
    const own = named.get(keyOf(one));
    if (own === undefined) return { ...one, added: [] };
    const found = own.flatMap((name) => (name.wanted ? (assembled.get(traceName(name)) ?? []) : []));
    const partial = !complete.has(keyOf(one)) || own.some(({ fits }) => !fits);
    return { ...one, turn: joined(one.turn, found), partial, added: found.map(({ trace }) => trace) };
  });
  await storeTurns(
    tx,
    completed.filter((one) => named.has(keyOf(one))),
  );
  await markTaken(tx, turns, names);
  return completed;
}

/** A trace that is whole is scored; the rest of another may still come. */
async function markTaken(tx: Transaction, turns: readonly Key[], names: readonly Named[]): Promise<void> {
  await tx.query(
    `UPDATE scoring.named_traces n SET taken = x.root AND x.orphans = 0 FROM scoring.otel_traces x, json_to_recordset($1::json) AS k(s uuid, t bigint)
     WHERE n.s = k.s AND n.t = k.t AND x.project = n.project AND x.trace_id = n.trace_id AND x.spans > 0 AND n.taken IS NOT TRUE`,
    [keysJson(turns)],
  );
  const large = names.filter(({ fits }) => !fits);
  await tx.query(
    `UPDATE scoring.otel_traces x SET state = 'scored', reason = CASE WHEN k.large THEN $2 ELSE x.reason END
     FROM json_to_recordset($1::json) AS k(project text, trace_id text, large boolean)
     WHERE x.project = k.project AND x.trace_id = k.trace_id AND x.state = 'named' AND x.root AND x.orphans = 0`,
    [
      JSON.stringify(traceKeys(names).map((key) => ({ ...key, large: large.some((one) => traceName(one) === traceName(key)) }))),
      `too large: its turn, with more than ${READ_BYTES_MAX / 1024 / 1024} MiB or ${TRACE_SPANS_MAX} spans of traces, is scored without it`,
    ],
  );
}

interface Named extends TraceKey {
  /** Within what one turn may have; the traces before it, in the order of their ids, count too. */
  readonly fits: boolean;
  /** The turn has nothing of it, or not the whole. */
  readonly wanted: boolean;
}

/** Traces that turns name, by turn: those of the first body, and of later ones. */
async function namesOf(tx: Transaction, turns: readonly Answerable[]): Promise<Map<string, Named[]>> {
  const names = new Map<string, Named[]>();
  if (turns.length === 0) return names;
  const rows = await tx.query<Key & TraceKey & { fits: boolean; taken: boolean | null }>(
    `SELECT s, t, project, trace_id, taken, small AND sum(CASE WHEN small THEN bytes ELSE 0 END) OVER (PARTITION BY s, t ORDER BY trace_id) <= ${READ_BYTES_MAX} AS fits
     FROM (SELECT n.s, n.t, n.project, n.trace_id, n.taken, x.bytes, x.bytes <= ${READ_BYTES_MAX} AND x.spans <= ${TRACE_SPANS_MAX} AS small
       FROM scoring.named_traces n JOIN json_to_recordset($1::json) AS k(s uuid, t bigint) USING (s, t) JOIN scoring.otel_traces x USING (project, trace_id)) q
     ORDER BY s, t, trace_id`,
    [keysJson(turns)],
  );
  const carried = new Map(turns.map((one) => [keyOf(one), new Set((one.turn.traces ?? []).map(({ trace_id: id }) => id))]));
  for (const { project, trace_id, fits, taken, ...key } of rows) {
    const own = names.get(keyOf(key)) ?? [];
    // What the turn carries and was never taken from spans is its own word about the trace.
    const wanted = taken === false || (taken === null && carried.get(keyOf(key))?.has(trace_id) !== true);
    own.push({ project, trace_id, fits, wanted });
    names.set(keyOf(key), own);
  }
  return names;
}

/** A turn with its traces, in (started_at, trace_id) order, and the tools that they show where it has none of its own. */
export function joined(turn: Turn, found: readonly Pick<AssembledTrace, 'trace' | 'tools'>[]): Turn {
  if (found.length === 0) return turn;
  const replaced = new Set(found.map(({ trace }) => trace.trace_id));
  const others = (turn.traces ?? []).filter(({ trace_id: id }) => !replaced.has(id));
  const traces = [...others, ...found.map(({ trace }) => trace)].sort(
    (a, b) => a.started_at - b.started_at || (a.trace_id < b.trace_id ? -1 : 1),
  );
  const catalogue = new Map(found.flatMap(({ tools }) => tools).map((tool) => [tool.name, tool]));
  const tools = turn.tools !== null && turn.tools !== undefined && turn.tools.length > 0 ? turn.tools : [...catalogue.values()];
  const whole: Turn = { ...turn, traces, ...(tools.length > 0 ? { tools } : {}) };
  return cutToFit(whole, TURN_BYTES_MAX).value as Turn;
}

/** The turn as it is now, in the place of its first body. */
export async function storeTurns(tx: Transaction, turns: readonly Completed[]): Promise<void> {
  for (const { s, t, turn } of turns.filter(({ added }) => added.length > 0))
    await tx.query('UPDATE scoring.turn_bodies SET body = $3 WHERE s = $1 AND t = $2', [s, t, Buffer.from(stringifyTurn(turn))]);
  if (turns.length === 0) return;
  await tx.query(
    `UPDATE scoring.turns t SET partial = k.partial FROM json_to_recordset($1::json) AS k(s uuid, t bigint, partial boolean) WHERE t.s = k.s AND t.t = k.t`,
    [JSON.stringify(turns.map(({ s, t, partial }) => ({ s, t, partial })))],
  );
}
