import { z } from 'zod';
import { defineEvent } from './event.js';
import { spanKinds, spanStatuses, toolInput } from './turn.js';

const id = z.string().min(1).max(255);

/**
 * A span of somebody's instrumentation, in our words: which library wrote it no longer matters. Times are integer microseconds
 * since the epoch. `metadata` keeps every attribute that had no place.
 */
export const receivedSpan = z.object({
  trace_id: id,
  span_id: id,
  parent_span_id: id.nullable(),
  /** It serves a request or a message, and nobody says whether its parent is in another process. */
  entry: z.literal(true).optional(),
  name: z.string(),
  kind: z.enum(spanKinds),
  status: z.enum(spanStatuses),
  input: z.unknown().optional(),
  output: z.unknown().optional(),
  model: z.string().nullable(),
  token_usage: z.unknown().optional(),
  error: z.unknown().optional(),
  started_at: z.int(),
  /** Null: it was never ended. */
  ended_at: z.int().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  /** Whose vocabulary it was read by: a name of docs/integrations.md. */
  dialect: z.string(),
  /** As this span itself says it; a trace's session is resolved from all its spans. `explicit`: under a name meant for us. */
  session: z.object({ id, explicit: z.boolean() }).nullable(),
  agent: z.object({ id, version: z.string().nullable(), model: z.string().nullable() }).nullable(),
  /** Tools that the model could have called, where the span says so. */
  tools: z.array(toolInput),
});
export type ReceivedSpan = z.output<typeof receivedSpan>;

/** Instead of many or large spans: where they are stored. */
export const spansReference = z.object({ body_ref: z.string().regex(/^[0-9a-f]{64}$/) });

export const spansReceived = defineEvent({
  type: 'spans.received',
  stream: 'FM_SPANS',
  formerStream: 'FM_TURNS',
  summary: 'Spans that came over OTLP, normalised and redacted. A span is (project, trace, span); the first one stays.',
  publishers: ['gateway'],
  audience: 'services',
  tail: [],
  schema: z.union([spansReference, z.object({ spans: z.array(receivedSpan) })]),
});
export type SpansReceived = z.output<typeof spansReceived.schema>;
