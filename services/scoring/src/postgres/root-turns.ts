import { createHash } from 'node:crypto';
import type { ProjectSettings, Turn } from '#contracts';
import { derivedId, sessionKey } from '#domain/ids';
import { stringifyTurn } from '#ingest';
import { assembleTrace, type AssembledTrace } from '#otlp';
import type { Transaction } from '#persistence';
import type { AcceptedTurn } from '../accepted-turn.js';
import { joined } from './named-traces.js';
import { loadSpans, lockTraces, traceName, tracesJson, type TraceKey } from './otel-spans.js';

/** How many quiet traces are looked at in one transaction. */
export const QUIET_ROWS = 64;

const DAY_MS = 86_400_000;

interface Quiet extends TraceKey {
  readonly root: boolean;
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

/** Traces that nobody has claimed, and that have had no further span for a while; their projects. */
export function quietTraces(tx: Transaction): Promise<TraceKey[]> {
  return tx.query<TraceKey>(
    `SELECT project, trace_id FROM scoring.otel_traces WHERE quiet_at <= now() ORDER BY quiet_at, project, trace_id LIMIT ${QUIET_ROWS}`,
  );
}

/**
 * Decides about quiet traces. Where turns are named, one that no turn names is kept, and said to be nobody's. Where a root span makes a
 * turn, its session's next turn is made of it: t is the microsecond of its start, the next free one when taken. Without a session, or
 * without a root span after `trace_wait_s` more, it stays with the reason. Returns the turns to accept, which are new.
 */
export async function decideQuiet(tx: Transaction, keys: readonly TraceKey[], settingsOf: SettingsOf): Promise<RootTurn[]> {
  if (keys.length === 0) return [];
  await lockTraces(tx, keys);
  const quiet = await tx.query<Quiet>(
    `SELECT x.project, x.trace_id, x.root, x.accepted_us, extract(epoch FROM now() - x.last_at)::float8 AS quiet_s FROM scoring.otel_traces x
     JOIN json_to_recordset($1::json) AS k(project text, trace_id text) USING (project, trace_id) WHERE x.quiet_at <= now() ORDER BY x.project, x.trace_id`,
    [tracesJson(keys)],
  );
  const named = quiet.filter(({ project }) => settingsOf(project).otlp_turns === 'named');
  await leave(tx, named, 'no turn names it (otlp_turns is "named")');
  const rest = quiet.filter((one) => !named.includes(one));
  const early = rest.filter(({ project, root, quiet_s }) => !root && quiet_s < settingsOf(project).trace_wait_s);
  await postpone(tx, early, settingsOf);
  return makeTurns(
    tx,
    rest.filter((one) => !early.includes(one)),
  );
}

async function makeTurns(tx: Transaction, quiet: readonly Quiet[]): Promise<RootTurn[]> {
  const spans = await loadSpans(tx, quiet);
  const assembled = quiet.flatMap((one) => {
    const own = spans.get(traceName(one));
    return own === undefined ? [] : [{ one, found: assembleTrace(own) }];
  });
  const orphaned = assembled.filter(({ found }) => found.session === null).map(({ one }) => one);
  await leave(tx, orphaned, 'no session: none of its spans names one');
  const turns: RootTurn[] = [];
  for (const { one, found } of assembled) {
    if (found.session === null) continue;
    const t = await placeOf(tx, one, found, turns);
    turns.push(turnOf(one, found, found.session.id, t));
  }
  await tx.query(
    `UPDATE scoring.otel_traces x SET state = 'turned', reason = CASE WHEN x.root THEN NULL ELSE 'its root span has not come' END, quiet_at = NULL, s = k.s, t = k.t
     FROM json_to_recordset($1::json) AS k(project text, "traceId" text, s uuid, t bigint) WHERE x.project = k.project AND x.trace_id = k."traceId"`,
    [JSON.stringify(turns.map(({ project, traceId, s, t }) => ({ project, traceId, s, t })))],
  );
  return turns;
}

/** The microsecond in which the trace began; the next one that no other turn of the session has. Given once: the trace keeps it. */
async function placeOf(
  tx: Transaction,
  { project }: TraceKey,
  { trace, session }: AssembledTrace,
  made: readonly RootTurn[],
): Promise<number> {
  const s = sessionKey(project, session?.id ?? '');
  const [row] = await tx.query<{ t: number | null }>(
    `SELECT min(n) AS t FROM generate_series($2::bigint, $2::bigint + 1000) n WHERE NOT EXISTS (SELECT 1 FROM scoring.turns t WHERE t.s = $1 AND t.t = n)
       AND n <> ALL ($3::bigint[])`,
    [s, Math.max(0, trace.started_at), made.filter((one) => one.s === s).map(({ t }) => t)],
  );
  return row?.t ?? trace.started_at;
}

function turnOf(
  { project, trace_id: traceId, root, accepted_us }: Quiet,
  found: AssembledTrace,
  session: string,
  t: number,
): RootTurn {
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
    s: sessionKey(project, session),
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
