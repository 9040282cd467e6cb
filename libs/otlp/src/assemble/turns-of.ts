import type { ReceivedSpan, Turn } from '#contracts';
import { assembleTrace, type AssembledTrace } from './assemble-trace.js';
import { joinHistories, type JoinedConversation } from './join-histories.js';
import { listIn } from './list-in.js';

export interface UnassignedTrace {
  readonly found: AssembledTrace;
  readonly reason: string;
}

export interface FoundTurns {
  /** By session, in its order. `turn_index` counts from 0. */
  readonly turns: Turn[];
  /** Traces that name no session and that nothing joins to others. In (started_at, trace_id) order. */
  readonly unassigned: UnassignedTrace[];
}

/** Spans by trace id. */
export function groupTraces(spans: Iterable<ReceivedSpan>): Map<string, ReceivedSpan[]> {
  const traces = new Map<string, ReceivedSpan[]>();
  for (const span of spans) listIn(traces, span.trace_id).push(span);
  return traces;
}

/**
 * The turns in a dump of spans: each trace is one, in the session that its spans name, ordered by (started_at, trace_id). Traces
 * without a session are joined where their messages show that they are one conversation (join-histories.ts): such a session is called
 * `history-` and its first trace's id, and its turns say `joined_by` in metadata. For dumps, which are whole: what comes bit by bit is
 * assembled trace by trace.
 */
export function turnsOf(spans: Iterable<ReceivedSpan>): FoundTurns {
  const traces = groupTraces(spans);
  const found = [...traces.values()].map(assembleTrace).sort(byStart);
  const bySession = new Map<string, AssembledTrace[]>();
  for (const one of found) if (one.session !== null) listIn(bySession, one.session.id).push(one);
  const loose = found.filter(({ session }) => session === null);
  const conversations = joinHistories(loose.map(({ trace }) => traces.get(trace.trace_id) ?? []));
  const joined = new Set(conversations.flat(2).map(({ trace_id: id }) => id));
  return {
    turns: [
      ...[...bySession].flatMap(([session, own]) => own.map((one, index) => turnOf(one, session, index))),
      ...conversations.flatMap(turnsOfHistory),
    ],
    unassigned: loose.filter(({ trace }) => !joined.has(trace.trace_id)).map((one) => ({ found: one, reason: reasonFor(one) })),
  };
}

/** All spans of a turn as one trace, so that what a later request shows of a tool's answer reaches the call. */
function turnsOfHistory(turns: JoinedConversation): Turn[] {
  const session = `history-${turns[0]?.[0]?.trace_id ?? ''}`;
  return turns.map((spans, index) => {
    const [first] = spans;
    const found = assembleTrace(spans.map((span) => ({ ...span, trace_id: first?.trace_id ?? span.trace_id })));
    return { ...turnOf(found, session, index), metadata: { joined_by: 'history' } };
  });
}

function byStart({ trace: a }: AssembledTrace, { trace: b }: AssembledTrace): number {
  return a.started_at - b.started_at || (a.trace_id < b.trace_id ? -1 : 1);
}

function reasonFor({ trace }: AssembledTrace): string {
  return trace.spans.length === 1
    ? 'no session: the trace is a single span that names none, and no messages join it to others'
    : 'no session: none of its spans names one';
}

function turnOf({ trace, tools, agent, model }: AssembledTrace, session: string, index: number): Turn {
  return {
    session_id: session,
    turn_index: index,
    ...(agent === null ? {} : { agent: { id: agent.id, version: agent.version, model: agent.model ?? model } }),
    status: trace.status === 'ERROR' ? 'error' : 'completed',
    ...(tools.length === 0 ? {} : { tools }),
    traces: [trace],
  };
}
