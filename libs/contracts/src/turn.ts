import { z } from 'zod';

/** RFC 3339, or an integer in s, ms, us or ns (told by its size), or such an integer as a decimal string. */
export const timeInput = z.union([z.string().max(64), z.number(), z.bigint()]);

const id = z.string().min(1).max(255);
const text = z.string();
const json = z.unknown();

export const spanKinds = ['AGENT', 'TOOL', 'LLM', 'RETRIEVER', 'CHAIN', 'EMBEDDING', 'OTHER'] as const;
export const spanStatuses = ['UNSET', 'OK', 'ERROR'] as const;

const spanShape = {
  span_id: id,
  parent_span_id: id.nullish(),
  name: text,
  kind: z.enum(spanKinds).default('OTHER'),
  status: z.enum(spanStatuses).default('UNSET'),
  input: json.optional(),
  output: json.optional(),
  model: text.nullish(),
  token_usage: json.optional(),
  error: json.optional(),
  started_at: timeInput.nullish(),
  ended_at: timeInput.nullish(),
  metadata: z.record(z.string(), json).nullish(),
};
export const spanInput = z.looseObject(spanShape);

const traceShape = {
  trace_id: id,
  name: text.nullish(),
  started_at: timeInput,
  ended_at: timeInput.nullish(),
  status: z.enum(spanStatuses).nullish(),
  input: json.optional(),
  output: json.optional(),
  metadata: z.record(z.string(), json).nullish(),
  spans: z.array(spanInput).default([]),
};
export const traceInput = z.looseObject(traceShape);

const toolShape = { name: text.min(1), description: text.nullish(), parameters: z.record(z.string(), json).nullish() };
export const toolInput = z.looseObject(toolShape);

export const scopeHint = z.looseObject({
  key: text.min(1).max(200),
  description: text.max(2000).nullish(),
  applicability: z.enum(['global', 'topical', 'task']).nullish(),
  recommended: z.boolean().nullish(),
});

export const hostScore = z.looseObject({
  metric: text.min(1).max(64),
  /** In [0, 1]; true and false are 1 and 0, null is no verdict. */
  value: z.union([z.number(), z.boolean()]).nullable(),
  reason: text.nullish(),
  trace_id: id.nullish(),
});

export const turnStatuses = ['completed', 'error', 'aborted'] as const;

/** Every trace of a turn is scored, and the scores of a turn travel in one message. */
const MAX_TRACES = 1_000;

const turnShape = {
  event_id: text.max(255).nullish(),
  session_id: id,
  turn_index: z.int().min(0),
  agent: z.looseObject({ id, version: text.nullish(), model: text.nullish(), host: text.nullish() }).nullish(),
  final: z.boolean().nullish(),
  started_at: timeInput.nullish(),
  ended_at: timeInput.nullish(),
  status: z.enum(turnStatuses).nullish(),
  error: z.looseObject({ type: text.nullish(), message: text.nullish() }).nullish(),
  task_summary: text.nullish(),
  end_state: json.optional(),
  rule_scope_hints: z.array(scopeHint).max(16).nullish(),
  tools: z.array(toolInput).nullish(),
  traces: z
    .array(traceInput)
    .max(MAX_TRACES, `a turn holds at most ${MAX_TRACES} traces; end the turn earlier, or put the steps into spans of one trace`)
    .nullish(),
  trace_ids: z.array(id).nullish(),
  scores: z.array(hostScore).nullish(),
  rules_read: z.array(text).nullish(),
  metadata: z.record(z.string(), json).nullish(),
};
/** What an agent sends at the end of a turn. Unknown fields are kept under `metadata`, never an error. */
export const turnEndedInput = z.looseObject(turnShape);

/** Instead of a large turn: where its body is stored. Written by the gateway only. */
export const bodyReference = z.object({
  session_id: id,
  turn_index: z.int().min(0),
  body_ref: z.string().regex(/^[0-9a-f]{64}$/),
});

// Types come from the shapes, not from the loose objects: a loose object's index signature would swallow its own fields.
type Fields<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>;
type Times<T, K extends keyof T> = Omit<T, K> & { [P in K]?: number | undefined };

/** A span as stored: times are integer microseconds since the epoch. */
export type Span = Times<Fields<typeof spanShape>, 'started_at' | 'ended_at'>;
/** A trace as stored: times are integer microseconds since the epoch; traces of a turn are in (started_at, trace_id) order. */
export type Trace = Omit<Times<Fields<typeof traceShape>, 'ended_at'>, 'started_at' | 'spans'> & {
  started_at: number;
  spans: Span[];
};
/** A turn as stored: times are integer microseconds since the epoch. */
export type Turn = Omit<Times<Fields<typeof turnShape>, 'started_at' | 'ended_at'>, 'traces' | 'event_id'> & {
  traces?: Trace[] | undefined;
};
/** A turn as an agent sends it, as far as its fields are known. */
export type TurnInput = z.input<z.ZodObject<typeof turnShape>>;
export type Tool = Fields<typeof toolShape>;
export type ScopeHint = z.output<typeof scopeHint>;
