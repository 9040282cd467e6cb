import type { ReceivedSpan } from '#contracts';
import type { Dialect, SpanFields } from './dialect.js';
import { dialects, plain } from './dialects/index.js';
import { failureOf } from './failure.js';
import { metadataOf } from './metadata.js';
import { sessionOf } from './session.js';
import { SpanView } from './span-view.js';
import type { OtlpSpan } from './span.js';

/**
 * A span in our words, whichever library wrote it. Pure, and never throws.
 * @param receivedAt microseconds since the epoch, for a span that says no time
 * @param latest microseconds since the epoch: a later time cannot be, and is taken as the time of receipt
 */
export function normaliseSpan(span: OtlpSpan, receivedAt: number, latest = Number.POSITIVE_INFINITY): ReceivedSpan {
  const view = new SpanView(span);
  const spoken = [...dialects.filter((dialect) => dialect.speaks(view)), plain];
  const get = <F extends keyof SpanFields>(field: F): SpanFields[F] | undefined => readField(view, spoken, field);
  const said = defined({
    input: get('input'),
    output: get('output'),
    token_usage: get('usage'),
    error: get('error') ?? failureOf(view),
  });
  const { started, ended, notes } = timesOf(span, receivedAt, latest);
  const hasContent = 'input' in said || 'output' in said;
  return {
    trace_id: span.traceId,
    span_id: span.spanId,
    parent_span_id: span.parentSpanId,
    ...(span.entry === undefined ? {} : { entry: span.entry }),
    name: get('name') ?? span.name,
    kind: get('kind') ?? 'OTHER',
    status: span.status.code,
    ...said,
    model: get('model') ?? null,
    started_at: started,
    ended_at: ended,
    dialect: (spoken[0] ?? plain).name,
    session: sessionOf(view, get('session')),
    agent: get('agent') ?? null,
    tools: [...(get('tools') ?? [])],
    // Last: it keeps what nobody above has read.
    metadata: metadataOf(view, hasContent ? spoken.flatMap((one) => one.repeats ?? []) : [], {
      ...defined({ tool_call_id: get('callId'), response_id: get('responseId'), remote_parent: span.remoteParentSpanId }),
      notes,
    }),
  };
}

/** Without the members that are undefined. */
function defined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

function readField<F extends keyof SpanFields>(view: SpanView, spoken: readonly Dialect[], field: F): SpanFields[F] | undefined {
  for (const { fields } of spoken) {
    for (const reader of fields[field] ?? []) {
      const value = reader(view);
      if (value !== undefined) return value;
    }
  }
  return undefined;
}

interface Times {
  readonly started: number;
  readonly ended: number | null;
  readonly notes: readonly string[];
}

/**
 * Only the end is known: it began then. Nothing is known: it began when it was received, and says so. That a span has ended is known
 * even where its end cannot be right: then it took no time.
 */
function timesOf(span: OtlpSpan, receivedAt: number, latest: number): Times {
  const notes: string[] = [];
  const micros = (nanos: bigint | null, what: string): number | null => {
    const at = nanos === null ? null : Number(nanos / 1000n);
    if (at === null || at <= latest) return at;
    notes.push(`the ${what} was more than a day ahead: the time of receipt stands`);
    return receivedAt;
  };
  const end = micros(span.end, 'end');
  const start = micros(span.start, 'start') ?? end;
  if (start === null) return { started: receivedAt, ended: end, notes: ['no time was recorded: the time of receipt stands'] };
  if (end === null || end >= start) return { started: start, ended: end, notes };
  return { started: start, ended: start, notes: [...notes, 'the end was before the start: taken as the start'] };
}
