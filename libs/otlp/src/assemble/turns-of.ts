import type { ReceivedSpan, Turn } from '#contracts';
import { assembleTrace, type AssembledTrace } from './assemble-trace.js';

export interface UnassignedTrace {
  readonly found: AssembledTrace;
  readonly reason: string;
}

export interface FoundTurns {
  /** By session, in its order. `turn_index` counts from 0. */
  readonly turns: Turn[];
  /** Traces that name no session: what they are part of cannot be told. In (started_at, trace_id) order. */
  readonly unassigned: UnassignedTrace[];
}

/** Spans by trace id. */
export function groupTraces(spans: Iterable<ReceivedSpan>): Map<string, ReceivedSpan[]> {
  const traces = new Map<string, ReceivedSpan[]>();
  for (const span of spans) listIn(traces, span.trace_id).push(span);
  return traces;
}

function listIn<T>(lists: Map<string, T[]>, key: string): T[] {
  const known = lists.get(key);
  if (known !== undefined) return known;
  const made: T[] = [];
  lists.set(key, made);
  return made;
}

/**
 * The turns in a dump of spans: each trace is one, in the session that its spans name, ordered by (started_at, trace_id). For
 * dumps, which are whole: what comes bit by bit is assembled trace by trace.
 */
export function turnsOf(spans: Iterable<ReceivedSpan>): FoundTurns {
  const found = [...groupTraces(spans).values()].map(assembleTrace).sort(byStart);
  const bySession = new Map<string, AssembledTrace[]>();
  const unassigned: UnassignedTrace[] = [];
  for (const one of found) {
    if (one.session === null) unassigned.push({ found: one, reason: reasonFor(one) });
    else listIn(bySession, one.session.id).push(one);
  }
  const turns = [...bySession].flatMap(([session, traces]) => traces.map((one, index) => turnOf(one, session, index)));
  return { turns, unassigned };
}

function byStart({ trace: a }: AssembledTrace, { trace: b }: AssembledTrace): number {
  return a.started_at - b.started_at || (a.trace_id < b.trace_id ? -1 : 1);
}

function reasonFor({ trace }: AssembledTrace): string {
  return trace.spans.length === 1
    ? 'no session: the trace is a single span, which names none'
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
