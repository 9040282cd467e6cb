import type { Trace, Turn } from '#contracts';
import { derivedId } from '#domain/ids';
import { cutToFit, stringifyTurn } from '#ingest';
import { assembleTrace, type AssembledTrace } from '#otlp';
import type { Transaction } from '#persistence';
import type { Answerable } from './open-tier.js';
import { loadSpans, lockTraces, traceKeys, traceName, tracesJson, type TraceKey } from './otel-spans.js';
import { keyOf, keysJson, type ConfiguredTurn, type Key } from './turn-rows.js';

/** Larger turns are cut by the digest rule, as the gateway does. */
const TURN_BYTES_MAX = 16 * 1024 * 1024;

/** Traces that a turn names and does not carry. */
export function missingTraces(turn: Turn): string[] {
  const carried = new Set((turn.traces ?? []).map(({ trace_id: id }) => id));
  return [...new Set(turn.trace_ids ?? [])].filter((id) => !carried.has(id)).sort();
}

/**
 * New turns name traces: from now on these are theirs. Returns the turns whose traces are all there already. A trace that has made
 * a turn by itself (`otlp_turns`) is in two turns then; the project mixes both ways, and is told.
 */
export async function nameTraces(
  tx: Transaction,
  turns: readonly Pick<ConfiguredTurn, 's' | 't' | 'project' | 'turn'>[],
): Promise<Key[]> {
  const named = turns.flatMap(({ s, t, project, turn }) =>
    missingTraces(turn).map((trace_id) => ({ s, t, project, trace_id, session: turn.session_id })),
  );
  if (named.length === 0) return [];
  await lockTraces(tx, named);
  await tx.query(
    `INSERT INTO scoring.named_traces (project, trace_id, s, t) SELECT project, trace_id, s, t
     FROM json_to_recordset($1::json) AS r(project text, trace_id text, s uuid, t bigint) ORDER BY 1, 2, 3, 4 ON CONFLICT DO NOTHING`,
    [JSON.stringify(named)],
  );
  const turned = await tx.query<TraceKey>(
    `UPDATE scoring.otel_traces x SET state = CASE WHEN x.state = 'turned' THEN x.state ELSE 'named' END, reason = NULL, quiet_at = NULL,
       s = coalesce(x.s, r.s), t = CASE WHEN x.s IS NULL THEN r.t ELSE x.t END
     FROM (SELECT DISTINCT ON (project, trace_id) project, trace_id, s, t FROM json_to_recordset($1::json) AS r(project text, trace_id text, s uuid, t bigint)
       ORDER BY project, trace_id, s, t) r
     WHERE x.project = r.project AND x.trace_id = r.trace_id AND x.state <> 'scored' RETURNING x.project, x.trace_id, x.state = 'turned' AS mixed`,
    [JSON.stringify(named)],
  );
  const mixed = new Set((turned as (TraceKey & { mixed: boolean })[]).filter((one) => one.mixed).map(traceName));
  for (const { project, trace_id, s, t, session } of named.filter((one) => mixed.has(traceName(one))))
    tx.journal({ id: derivedId('mixed_turns', project, s), project, type: 'mixed_turns', s, session, t, doc: { trace_id } });
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

/** Turns that name these traces: `waiting` ones with all their traces there, and `answered` ones that were scored without some. */
export async function turnsNaming(tx: Transaction, traces: readonly TraceKey[]): Promise<{ waiting: Key[]; answered: Key[] }> {
  const rows = await tx.query<Key & { waits: boolean }>(
    `SELECT DISTINCT t.s, t.t, t.wait_until IS NOT NULL AS waits FROM scoring.named_traces n JOIN json_to_recordset($1::json) AS k(project text, trace_id text) USING (project, trace_id)
     JOIN scoring.turns t ON t.s = n.s AND t.t = n.t WHERE t.wait_until IS NOT NULL OR (t.partial AND t.skipped IS NULL) ORDER BY t.s, t.t`,
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

/**
 * Gives turns the named traces that have come, as far as they have, and stores them so. `partial` where one is missing, or not
 * whole. The turns are locked by the caller.
 */
export async function withNamedTraces(tx: Transaction, turns: readonly Answerable[]): Promise<Completed[]> {
  const named = await namesOf(tx, turns);
  if (named.size === 0) return turns.map((one) => ({ ...one, added: [] }));
  const keys = traceKeys([...named.values()].flat());
  const spans = await loadSpans(tx, keys);
  const assembled = new Map([...spans].map(([name, own]) => [name, assembleTrace(own)]));
  const complete = new Set((await whollyNamed(tx, turns)).map(keyOf));
  const completed = turns.map((one): Completed => {
    const names = named.get(keyOf(one));
    if (names === undefined) return { ...one, added: [] };
    const found = names.flatMap((name) => assembled.get(traceName(name)) ?? []);
    return { ...one, turn: joined(one.turn, found), partial: !complete.has(keyOf(one)), added: found.map(({ trace }) => trace) };
  });
  await storeTurns(
    tx,
    completed.filter(({ added }) => added.length > 0),
  );
  await tx.query(
    `UPDATE scoring.otel_traces x SET state = 'scored' FROM json_to_recordset($1::json) AS k(project text, trace_id text)
     WHERE x.project = k.project AND x.trace_id = k.trace_id AND x.state = 'named' AND x.spans > 0`,
    [tracesJson(keys)],
  );
  return completed;
}

/** Traces that turns name and do not carry yet, by turn: those of the first body, and of later ones. */
async function namesOf(tx: Transaction, turns: readonly Answerable[]): Promise<Map<string, TraceKey[]>> {
  const names = new Map<string, TraceKey[]>();
  if (turns.length === 0) return names;
  const rows = await tx.query<Key & TraceKey>(
    `SELECT n.s, n.t, n.project, n.trace_id FROM scoring.named_traces n JOIN json_to_recordset($1::json) AS k(s uuid, t bigint) USING (s, t)
     ORDER BY n.s, n.t, n.trace_id`,
    [keysJson(turns)],
  );
  const carried = new Map(turns.map((one) => [keyOf(one), new Set((one.turn.traces ?? []).map(({ trace_id: id }) => id))]));
  for (const { project, trace_id, ...key } of rows) {
    if (carried.get(keyOf(key))?.has(trace_id) === true) continue;
    names.set(keyOf(key), [...(names.get(keyOf(key)) ?? []), { project, trace_id }]);
  }
  return names;
}

/** A turn with its traces, in (started_at, trace_id) order, and the tools that they show where it has none of its own. */
export function joined(turn: Turn, found: readonly Pick<AssembledTrace, 'trace' | 'tools'>[]): Turn {
  if (found.length === 0) return turn;
  const traces = [...(turn.traces ?? []), ...found.map(({ trace }) => trace)].sort(
    (a, b) => a.started_at - b.started_at || (a.trace_id < b.trace_id ? -1 : 1),
  );
  const catalogue = new Map(found.flatMap(({ tools }) => tools).map((tool) => [tool.name, tool]));
  const tools = turn.tools !== null && turn.tools !== undefined && turn.tools.length > 0 ? turn.tools : [...catalogue.values()];
  const whole: Turn = { ...turn, traces, ...(tools.length > 0 ? { tools } : {}) };
  return cutToFit(whole, TURN_BYTES_MAX).value as Turn;
}

/** The turn as it is now, in the place of its first body. */
export async function storeTurns(tx: Transaction, turns: readonly Completed[]): Promise<void> {
  for (const { s, t, turn } of turns)
    await tx.query('UPDATE scoring.turn_bodies SET body = $3 WHERE s = $1 AND t = $2', [s, t, Buffer.from(stringifyTurn(turn))]);
  if (turns.length === 0) return;
  await tx.query(
    `UPDATE scoring.turns t SET partial = k.partial FROM json_to_recordset($1::json) AS k(s uuid, t bigint, partial boolean) WHERE t.s = k.s AND t.t = k.t`,
    [JSON.stringify(turns.map(({ s, t, partial }) => ({ s, t, partial })))],
  );
}
