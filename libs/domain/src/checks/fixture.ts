import type { Trace, Turn } from '#contracts';

/** Builders for this folder's tests: only what a case is about is written in the case. */
export interface CallFields {
  readonly id?: string;
  readonly tool?: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
  readonly status?: 'UNSET' | 'OK' | 'ERROR';
  readonly at?: number;
}

/** A TOOL span; it went well unless told otherwise. */
export function call(fields: CallFields): Trace['spans'][number] {
  return {
    span_id: fields.id ?? 'a1',
    name: fields.tool ?? 'book',
    kind: 'TOOL',
    status: fields.status ?? (fields.error === undefined ? 'OK' : 'ERROR'),
    input: fields.input,
    output: fields.output,
    error: fields.error,
    ...(fields.at === undefined ? {} : { started_at: fields.at }),
  };
}

/** Calls of one tool in their order, with ids a1, a2, ... */
export function calls(...list: readonly CallFields[]): Trace['spans'] {
  return list.map((fields, index) => call({ id: `a${index + 1}`, ...fields }));
}

export function trace(spans: Trace['spans'], more: Record<string, unknown> = {}): Trace {
  return { trace_id: 't1', started_at: 0, spans, ...more };
}

/** A turn that holds the trace. */
export function turn(of: Trace, more: Record<string, unknown> = {}): Turn {
  return { session_id: 's', turn_index: 0, traces: [of], ...more };
}

/** A catalogue entry whose arguments are an object with these properties, all required. */
export function tool(name: string, properties: Record<string, unknown> = {}): Record<string, unknown> {
  return { name, parameters: { type: 'object', properties, required: Object.keys(properties) } };
}
