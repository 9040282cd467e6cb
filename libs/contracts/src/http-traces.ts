import { z } from 'zod';
import { pageQuery, sessionIdText } from './http.js';

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
  first_at: micros,
  last_at: micros,
});
export type ReceivedTrace = z.output<typeof receivedTrace>;

export const receivedTracesQuery = pageQuery.extend({
  state: z.enum(traceStates).optional(),
  session: sessionIdText.optional().describe('As the spans say it.'),
});
