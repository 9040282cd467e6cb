import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { distinctSpans, protobufOf, requestOf, spanOf } from './otlp.js';
import { PROTOBUF, spanGateway } from './span-gateway.js';

const CASES = new URL('../../../../shared/data/cases/', import.meta.url);

const { open, stream, post } = spanGateway();

const accepted = { status: 200, partial: undefined };

describe('POST /v1/traces', () => {
  it('answers in the encoding of the request once every span is stored', async () => {
    const before = await stream.last();
    expect(await post(requestOf([spanOf(0, 0)]))).toMatchObject({ ...accepted, type: 'application/json' });
    expect(await post(protobufOf(requestOf([spanOf(0, 1)])), PROTOBUF)).toMatchObject({
      ...accepted,
      type: 'application/x-protobuf',
    });
    const spans = await stream.spansSince(before);
    expect(spans.map(({ span_id: id, session }) => [id, session?.id])).toEqual([
      ['0000000000000001', 's-0'],
      ['0000000000000002', 's-0'],
    ]);
  });

  it('gives the same span whether it came as JSON or as protobuf', async () => {
    const request = requestOf([spanOf(1, 0), spanOf(1, 1)]);
    const before = await stream.last();
    await post(request);
    await post(protobufOf(request), PROTOBUF);
    // The stream may drop the second as a duplicate of the first; a span that differed would be there.
    expect(distinctSpans(await stream.spansSince(before))).toHaveLength(2);
  });

  it('publishes into the project of the key', async () => {
    const before = await stream.last();
    await post(requestOf([spanOf(2, 0)]));
    expect((await stream.since(before)).map(({ subject }) => subject)).toEqual(['fm.default.spans.received']);
  });

  it('takes parameters of the content type, and the other name of protobuf', async () => {
    const body = requestOf([spanOf(3, 0)]);
    expect(await post(body, { 'content-type': 'Application/JSON; charset=utf-8' })).toMatchObject(accepted);
    expect(await post(protobufOf(body), { 'content-type': 'application/x-protobuf;q=1' })).toMatchObject(accepted);
    expect(await post(protobufOf(body), { 'content-type': 'application/protobuf' })).toMatchObject(accepted);
  });

  it.each([
    ['gzip', gzipSync, 40],
    ['deflate', deflateSync, 41],
    ['br', brotliCompressSync, 42],
  ] as const)('takes %s, of either encoding', async (encoding, compress, trace) => {
    const before = await stream.last();
    const request = requestOf([spanOf(trace, 0)]);
    const headers = { 'content-encoding': encoding };
    expect(await post(compress(JSON.stringify(request)), headers)).toMatchObject(accepted);
    expect(await post(compress(protobufOf(request)), { ...PROTOBUF, ...headers })).toMatchObject(accepted);
    expect(distinctSpans(await stream.spansSince(before))).toHaveLength(1);
  });

  it.each([
    ['no resource spans', {}],
    ['an empty list', { resourceSpans: [] }],
    ['no scope spans', { resourceSpans: [{}] }],
    ['no spans', requestOf([])],
  ])('answers 200 to an empty request: %s', async (_, request) => {
    const before = await stream.last();
    expect(await post(request)).toMatchObject(accepted);
    expect(await post(protobufOf(request), PROTOBUF)).toMatchObject(accepted);
    expect(await stream.since(before)).toEqual([]);
  });

  it('answers 200 to no bytes at all as protobuf, which is an empty message', async () => {
    expect(await post(new Uint8Array(), PROTOBUF)).toMatchObject(accepted);
  });

  it('redacts secrets before anything is stored', async () => {
    const before = await stream.last();
    const attributes = [
      { key: 'http.request.header.authorization', value: { stringValue: 'hidden-1' } },
      { key: 'output.value', value: { stringValue: '{"api_key": "hidden-2", "text": "Bearer sk-abcdefghijklmnop0123456789"}' } },
    ];
    await post(requestOf([{ ...spanOf(5, 0), attributes }]));
    const text = JSON.stringify(await stream.spansSince(before));
    expect(text).toContain('[redacted]');
    expect(text).not.toMatch(/hidden|sk-abc/);
  });

  it('keeps the spans of a trace together, in messages of at most 512 KiB', async () => {
    const before = await stream.last();
    const spans = Array.from({ length: 120 }, (_, at) => spanOf(10 + (at % 4), at, 10_000));
    expect(await post(requestOf(spans))).toMatchObject(accepted);
    const published = await stream.since(before);
    expect(published.flatMap(({ spans: own }) => own)).toHaveLength(120);
    expect(Math.max(...published.map(({ bytes }) => bytes))).toBeLessThanOrEqual(512 * 1024);
    const traces = published.map(({ spans: own }) => [...new Set(own.map(({ trace_id: id }) => id))]);
    // 300 KB each: two would not fit.
    expect(traces.map((own) => own.length)).toEqual([1, 1, 1, 1]);
  });

  it('stores a span that is larger than a message beside it, once', async () => {
    const before = await stream.last();
    const request = requestOf([spanOf(20, 0), spanOf(20, 1, 2_000_000)]);
    await post(request);
    await post(request);
    const published = await stream.since(before);
    const large = published.filter(({ reference }) => reference !== undefined);
    expect(new Set(large.map(({ reference }) => reference)).size).toBe(1);
    expect(large[0]?.spans.map(({ output }) => JSON.stringify(output).length > 1_900_000)).toEqual([true]);
    expect(await open().db.query('SELECT 1 FROM edge.bodies WHERE hash = $1', [large[0]?.reference])).toHaveLength(1);
  });

  it('cuts a span of more than 16 MiB, and says so', async () => {
    const before = await stream.last();
    const answer = await post(requestOf([spanOf(21, 0, 20 * 1024 * 1024)]));
    expect(answer).toMatchObject({
      status: 200,
      partial: { rejectedSpans: '0', errorMessage: expect.stringContaining('16 MiB') },
    });
    expect(JSON.stringify(await stream.spansSince(before))).toContain('…[cut ');
  }, 30_000);

  it('counts what it took and what it did not, per reason', async () => {
    await post(requestOf([spanOf(22, 0), { ...spanOf(22, 1), traceId: '' }]));
    const { text } = await open().call('GET', '/metrics');
    expect(text).toMatch(/fleetmend_otlp_spans_total\{outcome="accepted",service="gateway"\} [1-9]/);
    expect(text).toMatch(/fleetmend_otlp_rejected_spans_total\{reason="[^"]*trace[^"]*",service="gateway"\} [1-9]/);
  });
});

interface CaseInput {
  readonly name: string;
  readonly body?: object;
  readonly bodyText?: string;
}

function inputsOf(file: string): Map<string, string> {
  const { inputs } = JSON.parse(readFileSync(new URL(file, CASES), 'utf8')) as { inputs: CaseInput[] };
  return new Map(inputs.map(({ name, body, bodyText }) => [name, bodyText ?? JSON.stringify(body)]));
}

describe('cases that broke others', () => {
  it('01: NaN costs its own attribute, not the batch', async () => {
    const inputs = inputsOf('01-otlp-nan-doublevalue-null.json');
    for (const body of inputs.values()) {
      const before = await stream.last();
      expect(await post(body)).toMatchObject(accepted);
      const spans = await stream.spansSince(before);
      expect(spans.length).toBeGreaterThan(0);
      expect(JSON.stringify(spans)).not.toMatch(/"input_tokens":0/);
    }
  });

  it('03: one bad span is rejected with a reason, and the others are stored', async () => {
    const before = await stream.last();
    const answer = await post(inputsOf('03-otlp-one-bad-span-in-batch.json').get('mixed-batch'));
    expect(answer).toMatchObject({ status: 200, partial: { rejectedSpans: '1', errorMessage: expect.stringMatching(/trace/i) } });
    expect((await stream.spansSince(before)).map(({ name }) => name)).toEqual(['good', 'attr without value', 'kind omitted']);
  });

  it('05: times are microseconds, whether they came as text, as numbers, in milliseconds or not at all', async () => {
    const before = await stream.last();
    const now = Date.now() * 1_000;
    for (const body of inputsOf('05-otlp-nanos-number-vs-string.json').values()) expect(await post(body)).toMatchObject(accepted);
    const started = (await stream.spansSince(before)).map(({ started_at: at }) => at);
    expect(started.slice(0, 3)).toEqual([1_769_000_000_123_456, 1_769_000_000_123_456, 1_769_000_000_123_000]);
    expect(started[3]).toBeGreaterThanOrEqual(now);
  });

  it('09: the same body again is the same spans; a conflicting one is published for the reader to refuse', async () => {
    const inputs = inputsOf('09-duplicate-spans-retry-and-conflict.json');
    const before = await stream.last();
    await Promise.all(Array.from({ length: 8 }, () => post(inputs.get('batch'))));
    await post(inputs.get('batch-again'));
    expect(distinctSpans(await stream.spansSince(before))).toHaveLength(2);
    const between = await stream.last();
    await post(inputs.get('conflict-a'));
    await post(inputs.get('conflict-b'));
    const conflicting = await stream.spansSince(between);
    expect(conflicting.map(({ span_id: id, status }) => [id, status])).toEqual([
      ['0707070707070707', 'ERROR'],
      ['0707070707070707', 'UNSET'],
    ]);
  });

  it('11: __proto__ keys and huge indices cost nothing and pollute nothing', async () => {
    const before = await stream.last();
    for (const body of inputsOf('11-proto-key-and-huge-index.json').values())
      expect(await post(body)).toMatchObject({ status: 200 });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    const [proto, huge] = await stream.spansSince(before);
    expect(JSON.stringify(proto?.input)).toContain('hello');
    expect(JSON.stringify(huge?.input)).toMatch(/"a".*"b"/);
    expect(JSON.stringify(huge).length).toBeLessThan(5_000);
  });
});
