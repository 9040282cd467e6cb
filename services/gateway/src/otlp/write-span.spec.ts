import { describe, expect, it } from '@jest/globals';
import { receivedSpan, type ReceivedSpan } from '#contracts';
import { parseJson } from '#ingest';
import { decodeTraces, type OtlpSpan } from '#otlp';
import { readSpan, writeSpan } from './write-span.js';

const MIB = 1024 * 1024;

const span = (more: Partial<ReceivedSpan> = {}): ReceivedSpan => ({
  trace_id: '0af7651916cd43dd8448eb211c80319c',
  span_id: 'b7ad6b7169203331',
  parent_span_id: null,
  name: 'chat',
  kind: 'LLM',
  status: 'OK',
  model: 'm',
  started_at: 1_769_000_000_000_000,
  ended_at: 1_769_000_000_500_000,
  metadata: {},
  dialect: 'plain',
  session: { id: 's', explicit: true },
  agent: null,
  tools: [],
  ...more,
});

function read(more: Partial<ReceivedSpan>): { value: ReceivedSpan; notes: readonly string[]; bytes: number } {
  const written = writeSpan(span(more));
  if (!written.ok) throw new Error(written.reason);
  expect(written.span.bytes).toBe(Buffer.byteLength(written.span.text));
  return { value: parseJson(written.span.text).value as ReceivedSpan, notes: written.notes, bytes: written.span.bytes };
}

describe('a span of a repair of ours', () => {
  it('is left out, so that no repair is ever scored', () => {
    const body = (name: string): Buffer => {
      const one = {
        traceId: '0af7651916cd43dd8448eb211c80319c',
        spanId: 'b7ad6b7169203331',
        name: 'harness',
        startTimeUnixNano: '1',
      };
      return Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ scope: { name }, spans: [one] }] }] }));
    };
    const read = (name: string): boolean[] =>
      [...decodeTraces(body(name), 'json').steps].flatMap((span) =>
        span === null ? [] : [readSpan(span, 1, () => undefined).ok],
      );
    expect([read('fleetmend.repair'), read('demo')]).toEqual([[false], [true]]);
  });
});

describe('a span on its way to the stream', () => {
  it('is what the contract says, unchanged where nothing had to change', () => {
    const { value, notes } = read({ input: { messages: [{ role: 'user', content: 'hi' }] } });
    expect(receivedSpan.parse(value)).toEqual(span({ input: { messages: [{ role: 'user', content: 'hi' }] } }));
    expect(notes).toEqual([]);
  });

  it('loses secrets, by key and by pattern', () => {
    const { value } = read({
      input: { authorization: 'hidden-1' },
      output: 'Bearer sk-abcdefghijklmnopqrstuvwxyz0123456789',
      metadata: { 'http.api_key': 'hidden-2' },
    });
    expect(JSON.stringify(value)).not.toMatch(/hidden|sk-abc/);
  });

  it('keeps its ids and its session, whatever they look like', () => {
    const secretLike = 'sk-abcdefghijklmnopqrstuvwxyz0123456789';
    const { value } = read({
      session: { id: secretLike, explicit: false },
      agent: { id: secretLike, version: null, model: null },
    });
    expect([value.session?.id, value.agent?.id, value.trace_id]).toEqual([secretLike, secretLike, span().trace_id]);
  });

  it('is storable: NUL, lone surrogates and NaN are replaced, with a note each', () => {
    const { value, notes } = read({ output: { text: 'a\0b\ud800c', value: Number.NaN } });
    expect(value.output).toEqual({ text: 'a\ufffdb\ufffdc', value: null });
    expect(notes).toHaveLength(3);
  });

  it('keeps integers beyond 2^53 to the last digit', () => {
    expect(read({ metadata: { id: 76_561_198_016_705_746n } }).value.metadata).toEqual({ id: 76_561_198_016_705_746n });
  });

  it('of more than 16 MiB is cut, with a note, and keeps its skeleton', () => {
    const { value, notes, bytes } = read({ input: 'short', output: 'y'.repeat(20 * MIB) });
    expect(bytes).toBeLessThanOrEqual(16 * MIB);
    expect(value).toMatchObject({ span_id: span().span_id, input: 'short', output: expect.stringContaining('…[cut ') });
    expect(notes).toEqual([expect.stringContaining('16 MiB')]);
  });

  it('that is too large in what cannot be cut is rejected', () => {
    const written = writeSpan(span({ tools: [{ name: 't'.repeat(17 * MIB) }] }));
    expect(written).toEqual({ ok: false, reason: expect.stringContaining('16 MiB') });
  });

  it('that breaks the contract is rejected by the name of the field', () => {
    expect(writeSpan(span({ trace_id: '' }))).toEqual({ ok: false, reason: 'not valid at trace_id' });
    expect(writeSpan(span({ tools: [{ name: '' }] }))).toEqual({ ok: false, reason: 'not valid at tools' });
  });
});

it('a span that makes our own code fail costs itself only, and is reported', () => {
  const cause = new Error('a fault of ours');
  const hostile = {
    scope: { name: null },
    get attributes(): never {
      throw cause;
    },
  };
  const reported: unknown[] = [];
  const written = readSpan(hostile as unknown as OtlpSpan, 0, (error) => reported.push(error));
  expect(written).toEqual({ ok: false, reason: expect.stringContaining('fault of the gateway') });
  expect(reported).toEqual([cause]);
});

it('a span from a day and more ahead of our clock begins when it was received', () => {
  const receivedAt = 1_769_000_000_000_000;
  const startedAt = (ahead: number): unknown => {
    const sent = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), startTimeUnixNano: `${receivedAt + ahead}000` };
    const body = Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [sent] }] }] }));
    const [one] = decodeTraces(body, 'json').spans;
    if (one === undefined) throw new Error('no span');
    const written = readSpan(one, receivedAt, () => undefined);
    return written.ok && (parseJson(written.span.text).value as ReceivedSpan).started_at;
  };
  expect([startedAt(86_400_000_000), startedAt(86_400_000_001)]).toEqual([receivedAt + 86_400_000_000, receivedAt]);
});
