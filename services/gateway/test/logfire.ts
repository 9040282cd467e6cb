/** A span as Logfire's own tests write it down: attributes as values, ids as small numbers. */
interface LogfireSpan {
  readonly name: string;
  readonly context: { readonly trace_id: number; readonly span_id: number };
  readonly parent: { readonly span_id: number } | null;
  readonly start_time: unknown;
  readonly end_time: unknown;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events?: readonly {
    readonly name: string;
    readonly timestamp?: number;
    readonly attributes?: Readonly<Record<string, unknown>>;
  }[];
  readonly instrumentation_scope?: string;
}

/** The recorded times are seconds since 1970; this day makes times of them. */
const DAY_NS = 1_769_000_000_000_000_000n;

/**
 * Those spans as Logfire's exporter sends them. Its values that are lists or objects travel as JSON text, since OpenTelemetry's
 * SDK for Python takes no nested ones.
 */
export function logfireRequest(text: string): {
  resourceSpans: { scopeSpans: { spans: { traceId: string; spanId: string }[] }[] }[];
} {
  const recorded = JSON.parse(text) as LogfireSpan[];
  const scopes = new Map<string, LogfireSpan[]>();
  for (const span of recorded) {
    const name = span.instrumentation_scope ?? 'logfire.openai';
    scopes.set(name, [...(scopes.get(name) ?? []), span]);
  }
  const scopeSpans = [...scopes].map(([name, spans]) => ({ scope: { name, version: '4.0.0' }, spans: spans.map(otlpSpan) }));
  return { resourceSpans: [{ scopeSpans }] };
}

function otlpSpan(span: LogfireSpan): { traceId: string; spanId: string } {
  const { context, parent, start_time: start, end_time: end, events = [] } = span;
  return {
    traceId: hex(context.trace_id, 32),
    spanId: hex(context.span_id, 16),
    ...(parent === null ? {} : { parentSpanId: hex(parent.span_id, 16) }),
    ...{ name: span.name, kind: 1, startTimeUnixNano: nanos(start), endTimeUnixNano: nanos(end) },
    attributes: keyValues(span.attributes),
    events: events.map((event) => ({
      name: event.name,
      timeUnixNano: nanos(event.timestamp),
      attributes: keyValues(event.attributes ?? {}),
    })),
  } as { traceId: string; spanId: string };
}

const hex = (id: number, digits: number): string => id.toString(16).padStart(digits, '0');
/** A time that the tests leave open is none. */
const nanos = (time: unknown): string | undefined =>
  typeof time === 'number' ? String(DAY_NS + BigInt(Math.trunc(time))) : undefined;

function keyValues(attributes: Readonly<Record<string, unknown>>): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: unknown): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return { arrayValue: { values: value.map(anyValue) } };
  return { stringValue: JSON.stringify(value) };
}
