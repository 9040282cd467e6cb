import { createHash } from 'node:crypto';
import type { ProjectSettings, Turn } from '#contracts';
import { derivedId, sessionKey } from '#domain/ids';
import { stringifyTurn } from '#ingest';
import { assembleTrace, type AssembledTrace } from '#otlp';
import type { Transaction } from '#persistence';
import type { AcceptedTurn } from '../accepted-turn.js';
import { boundedReason } from '../bounded-score.js';
import { joined } from './named-traces.js';
import { loadSpans, lockTraces, traceName, tracesJson, type TraceKey } from './otel-spans.js';
import { lockSessions } from './stored-turns.js';
import { saveSessions } from './turn-rows.js';

/** How many quiet traces are looked at in one transaction. */
const QUIET_ROWS = 64;

const DAY_MS = 86_400_000;

/** Of a trace that one read may take: beyond it stands for nobody's turn, and would be all the memory there is. */
const TRACE_BYTES_MAX = 64 * 1024 * 1024;
const TRACE_SPANS_MAX = 20_000;

/** The last microsecond that is a safe integer. */
const PLACE_MAX = Number.MAX_SAFE_INTEGER;

interface Quiet extends TraceKey {
  readonly root: boolean;
  readonly session: string | null;
  readonly spans: number;
  /** Tells whether a span has come since. */
  readonly bytes: number;
  readonly accepted_us: number;
  /** Seconds since its newest span. */
  readonly quiet_s: number;
}

export type SettingsOf = (project: string) => Pick<ProjectSettings, 'otlp_turns' | 'trace_wait_s'>;

export interface RootTurn extends AcceptedTurn {
  readonly traceId: string;
  /** Its root span has not come. */
  readonly partial: boolean;
}

/** `named`: a turn waits for it. */
export interface QuietTrace extends TraceKey {
  readonly named: boolean;
}

/** Traces that have had no further span for a while, and that are nobody's or not whole, the longest first: as many as fit, at least one. */
export function quietTraces(tx: Transaction): Promise<QuietTrace[]> {
  return tx.query<QuietTrace>(
    `SELECT project, trace_id, state NOT IN ('open', 'unassigned') AS named FROM (
       SELECT project, trace_id, state, quiet_at, sum(bytes) OVER (ORDER BY quiet_at, project, trace_id) - bytes AS before FROM scoring.otel_traces
       WHERE quiet_at <= now() ORDER BY quiet_at, project, trace_id LIMIT ${QUIET_ROWS}) q
     WHERE before < ${TRACE_BYTES_MAX} ORDER BY quiet_at, project, trace_id`,
  );
}

/**
 * Decides about quiet traces. Where turns are named, one that no turn names is kept, and said to be nobody's. Where a root span makes a
 * turn, its session's next turn is made of it: t is the microsecond of its start, the next free one when taken. Without a session, or
 * without a root span after `trace_wait_s` more, it stays with the reason. Returns the turns to accept, which are new.
 *
 * Sessions and budgets are locked before traces, as everywhere. Which they are is read without a lock: what has changed until the
 * traces are locked is left to the next look.
 */
export async function decideQuiet(tx: Transaction, keys: readonly TraceKey[], settingsOf: SettingsOf): Promise<RootTurn[]> {
  if (keys.length === 0) return [];
  const seen = (await readQuiet(tx, keys)).map((one): Seen => ({ one, fate: fateOf(one, settingsOf(one.project)) }));
  const turns = await assemble(
    tx,
    seen.filter(({ fate }) => fate === 'turn').map(({ one }) => one),
  );
  await lockPlaces(tx, turns);
  await lockTraces(tx, keys);
  const now = new Map((await readQuiet(tx, keys)).map((one) => [traceName(one), one.bytes]));
  const still = seen.filter(({ one }) => now.get(traceName(one)) === one.bytes);
  for (const reason of Object.values(REASONS))
    await leave(
      tx,
      still.filter(({ fate }) => fate === reason).map(({ one }) => one),
      reason,
    );
  await postpone(
    tx,
    still.filter(({ fate }) => fate === 'wait').map(({ one }) => one),
    settingsOf,
  );
  return place(
    tx,
    turns.filter((turn) => still.some(({ one }) => one === turn.one)),
  );
}

const REASONS = {
  named: 'no turn names it (otlp_turns is "named")',
  large: `too large: more than ${TRACE_BYTES_MAX / 1024 / 1024} MiB or ${TRACE_SPANS_MAX} spans`,
  session: 'no session: none of its spans names one',
} as const;

interface Seen {
  readonly one: Quiet;
  readonly fate: 'turn' | 'wait' | (typeof REASONS)[keyof typeof REASONS];
}

function fateOf({ root, quiet_s, session, spans, bytes }: Quiet, settings: ReturnType<SettingsOf>): Seen['fate'] {
  if (settings.otlp_turns === 'named') return REASONS.named;
  if (!root && quiet_s < settings.trace_wait_s) return 'wait';
  if (bytes > TRACE_BYTES_MAX || spans > TRACE_SPANS_MAX) return REASONS.large;
  return session === null ? REASONS.session : 'turn';
}

function readQuiet(tx: Transaction, keys: readonly TraceKey[]): Promise<Quiet[]> {
  return tx.query<Quiet>(
    `SELECT x.project, x.trace_id, x.root, x.session, x.spans, x.bytes, x.accepted_us, extract(epoch FROM now() - x.last_at)::float8 AS quiet_s
     FROM scoring.otel_traces x JOIN json_to_recordset($1::json) AS k(project text, trace_id text) USING (project, trace_id)
     WHERE x.quiet_at <= now() AND x.state IN ('open', 'unassigned') ORDER BY x.project, x.trace_id`,
    [tracesJson(keys)],
  );
}

interface Assembled {
  readonly one: Quiet;
  readonly found: AssembledTrace;
  readonly s: string;
  readonly session: string;
}

/** The session is the one that the trace is listed with. */
async function assemble(tx: Transaction, quiet: readonly Quiet[]): Promise<Assembled[]> {
  const spans = await loadSpans(tx, quiet);
  return quiet.flatMap((one) => {
    const { project, session } = one;
    const own = spans.get(traceName(one));
    if (own === undefined || session === null) return [];
    return [{ one, found: assembleTrace(own), s: sessionKey(project, session), session }];
  });
}

/** Where turns go is decided under their sessions; a budget that is there is locked before any trace, as where turns are accepted. */
async function lockPlaces(tx: Transaction, turns: readonly Assembled[]): Promise<void> {
  if (turns.length === 0) return;
  await saveSessions(
    tx,
    turns.map(({ one, found, s, session }) => ({ s, project: one.project, turn: { session_id: session, agent: found.agent } })),
    'root_turns',
  );
  await lockSessions(tx, [...new Set(turns.map(({ s }) => s))].sort());
  await tx.query('SELECT project FROM scoring.budgets WHERE project = ANY($1) ORDER BY project FOR UPDATE', [
    [...new Set(turns.map(({ one }) => one.project))],
  ]);
}

async function place(tx: Transaction, assembled: readonly Assembled[]): Promise<RootTurn[]> {
  const turns: RootTurn[] = [];
  for (const one of assembled) {
    const t = await placeOf(tx, one, turns);
    if (t === null) await cannotBeTurn(tx, one.one, 'no microsecond near its start is free in its session');
    else turns.push(turnOf(one, t));
  }
  await tx.query(
    `UPDATE scoring.otel_traces x SET state = 'turned', reason = CASE WHEN x.root THEN NULL ELSE 'its root span has not come' END, quiet_at = NULL, s = k.s, t = k.t
     FROM json_to_recordset($1::json) AS k(project text, "traceId" text, s uuid, t bigint) WHERE x.project = k.project AND x.trace_id = k."traceId"`,
    [JSON.stringify(turns.map(({ project, traceId, s, t }) => ({ project, traceId, s, t })))],
  );
  return turns;
}

/** The microsecond in which the trace began; the next one that no other turn of the session has. Given once: the trace keeps it. */
async function placeOf(tx: Transaction, { s, found }: Assembled, made: readonly RootTurn[]): Promise<number | null> {
  const [row] = await tx.query<{ t: number | null }>(
    `SELECT min(n) AS t FROM generate_series($2::bigint, least($2::bigint + 1000, ${PLACE_MAX})) n
     WHERE NOT EXISTS (SELECT 1 FROM scoring.turns t WHERE t.s = $1 AND t.t = n) AND n <> ALL ($3::bigint[])`,
    [s, Math.max(0, found.trace.started_at), made.filter((one) => one.s === s).map(({ t }) => t)],
  );
  return row?.t ?? null;
}

function turnOf({ one: { project, trace_id: traceId, root, accepted_us }, found, s, session }: Assembled, t: number): RootTurn {
  const { trace, agent, model } = found;
  const failed = trace.status === 'ERROR';
  const turn: Turn = joined(
    {
      ...{ session_id: session, turn_index: t, status: failed ? 'error' : 'completed', started_at: trace.started_at },
      ...(trace.ended_at === undefined ? {} : { ended_at: trace.ended_at }),
      ...(agent === null ? {} : { agent: { id: agent.id, version: agent.version, model: agent.model ?? model } }),
      metadata: { otlp: true },
    },
    [found],
  );
  const body = Buffer.from(stringifyTurn(turn));
  const sha = createHash('sha256').update(body).digest('hex');
  return {
    s,
    t,
    project,
    turn,
    body,
    sha,
    acceptedAt: accepted_us,
    notes: [],
    traceId,
    partial: !root,
  };
}

/** Those that turns name have been looked at: what is missing of them may come yet. */
export async function namedWereQuiet(tx: Transaction, keys: readonly TraceKey[]): Promise<void> {
  if (keys.length === 0) return;
  await lockTraces(tx, keys);
  await tx.query(
    `UPDATE scoring.otel_traces x SET quiet_at = NULL FROM json_to_recordset($1::json) AS k(project text, trace_id text)
     WHERE x.project = k.project AND x.trace_id = k.trace_id AND x.quiet_at <= now() AND x.state NOT IN ('open', 'unassigned')`,
    [tracesJson(keys)],
  );
}

/** A trace that no other look would make a turn of: it stays, with the reason. */
export async function cannotBeTurn(tx: Transaction, trace: TraceKey, why: string): Promise<void> {
  await lockTraces(tx, [trace]);
  await leave(tx, [trace], boundedReason(`cannot be made a turn: ${why}`) ?? '');
}

async function leave(tx: Transaction, traces: readonly TraceKey[], reason: string): Promise<void> {
  if (traces.length === 0) return;
  await tx.query(
    `UPDATE scoring.otel_traces x SET state = 'unassigned', reason = $2, quiet_at = NULL FROM json_to_recordset($1::json) AS k(project text, trace_id text)
     WHERE x.project = k.project AND x.trace_id = k.trace_id`,
    [tracesJson(traces), reason],
  );
  // Once a day for each reason, with an example: where nothing is named, every trace would be an entry. The table has them all.
  const day = Math.floor(Date.now() / DAY_MS);
  for (const { project, trace_id } of traces)
    tx.journal({
      id: derivedId('trace_unassigned', project, reason, day),
      ...{ project, type: 'trace_unassigned', doc: { reason, example: trace_id } },
    });
}

async function postpone(tx: Transaction, traces: readonly TraceKey[], settingsOf: SettingsOf): Promise<void> {
  if (traces.length === 0) return;
  await tx.query(
    `UPDATE scoring.otel_traces x SET quiet_at = x.last_at + make_interval(secs => k.wait_s) FROM json_to_recordset($1::json) AS k(project text, trace_id text, wait_s float8)
     WHERE x.project = k.project AND x.trace_id = k.trace_id`,
    [JSON.stringify(traces.map(({ project, trace_id }) => ({ project, trace_id, wait_s: settingsOf(project).trace_wait_s })))],
  );
}
