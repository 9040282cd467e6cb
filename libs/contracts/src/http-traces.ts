import { z } from 'zod';
import { page, pageQuery, sessionIdText } from './http.js';
import { spanKinds, spanStatuses } from './turn.js';

/** Where a trace that came over OTLP stands on its way into a turn. */
export const traceStates = ['open', 'named', 'turned', 'scored', 'unassigned'] as const;

const micros = z.int();

/** A trace of which spans came over OTLP, or which a turn names and which has not come. */
export const receivedTrace = z.object({
  trace_id: z.string(),
  /** As its spans say it; null: none of them does. */
  session_id: z.string().nullable(),
  state: z
    .enum(traceStates)
    .describe(
      'open: nobody has claimed it yet. named: a turn names it and waits. turned: it made a turn of its own. scored: it was there when its turn was scored. unassigned: nobody wants it, see reason.',
    ),
  reason: z.string().nullable(),
  /** The turn it is part of. */
  turn: z.object({ session_id: z.string(), turn_index: z.int() }).nullable(),
  /** Its root span has come, ended. */
  root_ended: z.boolean(),
  spans: z.int(),
  /** Spans whose parent has not come. */
  orphans: z.int(),
  late_spans: z.int().describe('Spans that came when its turn had been scored: kept, and not scored again.'),
  first_at: micros,
  last_at: micros,
});
export type ReceivedTrace = z.output<typeof receivedTrace>;

export const receivedTracesQuery = pageQuery.extend({
  state: z.enum(traceStates).optional(),
  session: sessionIdText.optional().describe('As the spans say it.'),
  no_session: z.literal('true').optional().describe('Only traces of which no span names a session.'),
  late: z.literal('true').optional().describe('Only traces with late spans.'),
});

/** A span as it is kept, without what it holds: contents are in the turn, and may be large. */
export const receivedTraceSpan = z.object({
  span_id: z.string(),
  parent_span_id: z.string().nullable(),
  name: z.string(),
  kind: z.enum(spanKinds),
  status: z.enum(spanStatuses),
  model: z.string().nullable(),
  /** Whose vocabulary it was read by. */
  dialect: z.string(),
  /** As this span says it. */
  session_id: z.string().nullable(),
  started_at: micros,
  /** Null: it was never ended. */
  ended_at: micros.nullable(),
  late: z.boolean().describe('It came when the turn of its trace had been scored.'),
  received_at: micros,
});
export type ReceivedTraceSpan = z.output<typeof receivedTraceSpan>;

/** A trace with a page of its spans, by their start. */
export const receivedTraceSpans = page(receivedTraceSpan).extend({ trace: receivedTrace });
export type ReceivedTraceSpans = z.output<typeof receivedTraceSpans>;

export const receivedTraceSpansQuery = pageQuery.extend({
  late: z.literal('true').optional().describe('Only late spans.'),
});

/** A turn may name a trace by any text. */
export const traceIdText = z.string().min(1).max(255);
