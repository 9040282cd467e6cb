import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import protobuf from 'protobufjs';
import { spansReceived, type ReceivedSpan } from '#contracts';
import { parseJson } from '#ingest';
import type { Fixture } from './fixture.js';

/** OTLP as its specification declares it, as far as tests need it; read by the protobuf library's own parser. */
const { root } = protobuf.parse(`
  syntax = "proto3";
  message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; string schema_url = 3; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
  message Scope { string name = 1; string version = 2; repeated KeyValue attributes = 3; }
  message Span { bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
    fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9; repeated Event events = 11; SpanStatus status = 15; }
  message Event { fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3; }
  message SpanStatus { string message = 2; int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
    ArrayValue array_value = 5; KeyValueList kvlist_value = 6; bytes bytes_value = 7; } }
  message ArrayValue { repeated AnyValue values = 1; }
  message KeyValueList { repeated KeyValue values = 1; }
  message ExportTraceServiceResponse { PartialSuccess partial_success = 1; }
  message PartialSuccess { int64 rejected_spans = 1; string error_message = 2; }
  message Status { int32 code = 1; string message = 2; }`);

export interface OtlpSpanJson {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano?: string;
  readonly endTimeUnixNano?: string;
  readonly attributes?: readonly { readonly key: string; readonly value?: unknown }[];
}

/** A request body of these spans, as one resource and scope. */
export function requestOf(spans: readonly OtlpSpanJson[]): { resourceSpans: object[] } {
  const attributes = [{ key: 'service.name', value: { stringValue: 'orders-bot' } }];
  return {
    resourceSpans: [{ resource: { attributes }, scopeSpans: [{ scope: { name: 'demo.agent', version: '1.0.0' }, spans }] }],
  };
}

/** A span with a text of `bytes` bytes. */
export function spanOf(trace: number, span: number, bytes = 20): OtlpSpanJson {
  const start = 1_769_000_000_000_000_000n + BigInt(trace * 1_000 + span) * 1_000_000n;
  return {
    traceId: (trace + 1).toString(16).padStart(32, '0'),
    spanId: (span + 1).toString(16).padStart(16, '0'),
    name: 'chat small-model',
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(start + 500_000n),
    attributes: [
      { key: 'session.id', value: { stringValue: `s-${trace}` } },
      { key: 'output.value', value: { stringValue: 'word '.repeat(Math.ceil(bytes / 5)).slice(0, bytes) } },
    ],
  };
}

const IDS = new Set(['traceId', 'spanId', 'parentSpanId']);

/** The same request as protobuf. */
export function protobufOf(request: object): Uint8Array {
  const type = root.lookupType('ExportTraceServiceRequest');
  const plain: unknown = JSON.parse(JSON.stringify(request), (key, value: unknown) =>
    IDS.has(key) && typeof value === 'string' ? [...Buffer.from(value, 'hex')] : value,
  );
  return type.encode(type.fromObject(plain as Record<string, unknown>)).finish();
}

export interface OtlpAnswer {
  readonly status: number;
  readonly type: string | null;
  readonly retryAfter: string | null;
  /** Of an ExportTraceServiceResponse; undefined when all was accepted. */
  readonly partial: { rejectedSpans: string; errorMessage: string } | undefined;
  /** Of a google.rpc.Status. */
  readonly code: number | undefined;
  readonly message: string | undefined;
}

/** Posts bytes, or a value as JSON, and reads the answer in whichever encoding it has. */
export async function postTraces(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<OtlpAnswer> {
  const response = await fetch(`${url}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: (typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)) as string,
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const type = response.headers.get('content-type');
  const name = response.status === 200 ? 'ExportTraceServiceResponse' : 'Status';
  const read = (
    type === 'application/x-protobuf' ? decoded(name, bytes) : JSON.parse(new TextDecoder().decode(bytes))
  ) as Partial<{
    partialSuccess: OtlpAnswer['partial'];
    code: number;
    message: string;
  }>;
  return {
    status: response.status,
    type,
    retryAfter: response.headers.get('retry-after'),
    partial: read.partialSuccess,
    code: read.code,
    message: read.message,
  };
}

function decoded(name: string, bytes: Uint8Array): unknown {
  const type = root.lookupType(name);
  return type.toObject(type.decode(bytes), { longs: String });
}

export interface PublishedSpans {
  readonly subject: string;
  readonly id: string;
  readonly bytes: number;
  readonly reference: string | undefined;
  readonly spans: readonly ReceivedSpan[];
}

/** The stream as a reader sees it. */
export class SpanStream {
  private constructor(
    private readonly fixture: Fixture,
    private readonly jsm: JetStreamManager,
  ) {}

  static async open(fixture: Fixture): Promise<SpanStream> {
    return new SpanStream(fixture, await jetstreamManager(await fixture.nats.connect()));
  }

  /** The sequence of its last message. */
  async last(): Promise<number> {
    return (await this.jsm.streams.info('FM_SPANS')).state.last_seq;
  }

  /** Every `spans.received` after a sequence, checked against its contract, with the spans of those that refer to a body. */
  async since(sequence: number): Promise<PublishedSpans[]> {
    const published: PublishedSpans[] = [];
    for (let seq = sequence + 1, last = await this.last(); seq <= last; seq += 1) {
      const message = await this.jsm.streams.getMessage('FM_SPANS', { seq });
      if (message === null || !message.subject.endsWith(spansReceived.type)) continue;
      const event = spansReceived.schema.parse(parseJson(message.data).value);
      const reference = 'body_ref' in event ? event.body_ref : undefined;
      const spans = 'body_ref' in event ? await this.body(event.body_ref) : event.spans;
      published.push({
        subject: message.subject,
        id: message.header.get('Nats-Msg-Id'),
        bytes: message.data.length,
        reference,
        spans,
      });
    }
    return published;
  }

  /** Every span after a sequence. */
  async spansSince(sequence: number): Promise<ReceivedSpan[]> {
    return (await this.since(sequence)).flatMap(({ spans }) => spans);
  }

  private async body(hash: string): Promise<readonly ReceivedSpan[]> {
    const [row] = await this.fixture.db.query<{ body: Buffer }>('SELECT body FROM edge.bodies WHERE hash = $1', [hash]);
    const event = spansReceived.schema.parse(parseJson(row?.body ?? Buffer.alloc(0)).value);
    if ('body_ref' in event) throw new Error('a body that refers to another');
    return event.spans;
  }
}

/** What a set of spans is, whatever their order and repetition. */
export function distinctSpans(spans: readonly ReceivedSpan[]): string[] {
  return [...new Set(spans.map((span) => JSON.stringify(span)))].sort();
}
