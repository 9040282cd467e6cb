import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import protobuf from 'protobufjs/light.js';
import { traceMessages } from '../proto/trace-messages.js';
import type { OtlpSpan } from '../span.js';
import { decodeTraces, type DecodedTraces } from './decode-traces.js';
import { OtlpError } from './otlp-error.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const START = 1_769_000_000_123_456_789n;

const text = (key: string, value: string): object => ({ key, value: { stringValue: value } });
const goodSpan = (more: object = {}): object => ({
  traceId: TRACE,
  spanId: SPAN,
  name: 'chat',
  startTimeUnixNano: String(START),
  ...more,
});
const body = (...spans: unknown[]): object => ({
  resourceSpans: [
    { resource: { attributes: [text('service.name', 'bot')] }, scopeSpans: [{ scope: { name: 'demo', version: '1' }, spans }] },
  ],
});
const json = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const read = (decoded: DecodedTraces): { spans: OtlpSpan[]; rejected: object; warnings: object } => ({
  spans: [...decoded.spans],
  rejected: Object.fromEntries(decoded.rejected),
  warnings: Object.fromEntries(decoded.warnings),
});
const readJson = (value: unknown): ReturnType<typeof read> => read(decodeTraces(json(value), 'json'));
const only = (value: unknown): OtlpSpan => {
  const { spans } = readJson(value);
  expect(spans).toHaveLength(1);
  return spans[0]!;
};

const types = protobuf.Root.fromJSON(traceMessages);
const encode = (type: string, message: object): Uint8Array => {
  const of = types.lookupType(type);
  return of.encode(of.fromObject(message)).finish();
};
const encodeBody = (...spans: Uint8Array[]): Uint8Array => {
  const scope = encode('ScopeSpans', { scope: { name: 'demo', version: '1' }, spans });
  const resource = encode('ResourceSpans', { resource: { attributes: [text('service.name', 'bot')] }, scopeSpans: [scope] });
  return encode('ExportTraceServiceRequest', { resourceSpans: [resource] });
};
const bytesOf = (hex: string): Buffer => Buffer.from(hex, 'hex');

describe('an OTLP body', () => {
  it('is the same spans in JSON and in protobuf', () => {
    const attributes = [
      text('a', 'words'),
      { key: 'b', value: { intValue: '-5' } },
      { key: 'c', value: { intValue: '9007199254740993' } },
      { key: 'd', value: { doubleValue: 0.5 } },
      { key: 'e', value: { boolValue: false } },
      { key: 'f', value: { arrayValue: { values: [{ stringValue: 'x' }, { intValue: '1' }] } } },
      { key: 'g', value: { kvlistValue: { values: [text('__proto__', 'data'), text('k', 'v')] } } },
      { key: 'h', value: { bytesValue: Buffer.from('raw').toString('base64') } },
    ];
    const events = [{ name: 'exception', timeUnixNano: String(START), attributes: [text('exception.message', 'no')] }];
    const status = { code: 2, message: 'failed' };
    const rest = {
      name: 'chat',
      startTimeUnixNano: String(START),
      endTimeUnixNano: String(START + 1n),
      attributes,
      events,
      status,
    };
    const ofJson = only(body({ traceId: TRACE, spanId: SPAN, parentSpanId: 'a'.repeat(16), ...rest }));
    const span = encode('Span', {
      traceId: bytesOf(TRACE),
      spanId: bytesOf(SPAN),
      parentSpanId: bytesOf('a'.repeat(16)),
      ...rest,
    });
    const { spans, rejected, warnings } = read(decodeTraces(encodeBody(span), 'protobuf'));
    expect(spans).toEqual([ofJson]);
    expect({ rejected, warnings }).toEqual({ rejected: {}, warnings: {} });
    expect(ofJson.attributes.get('c')).toBe(9007199254740993n);
    expect(ofJson.attributes.get('h')).toBe('cmF3');
    expect(Object.keys(ofJson.attributes.get('g') as object)).toEqual(['__proto__', 'k']);
    expect(ofJson).toMatchObject({ parentSpanId: 'a'.repeat(16), end: START + 1n, status: { code: 'ERROR', message: 'failed' } });
  });

  it.each([
    ['no JSON', '{"resourceSpans": [', /not JSON/],
    ['a list', '[]', /object with a list/],
    ['nothing', '', /not JSON/],
    ['something else in the place of the list', '{"resourceSpans": "all of them"}', /is a list/],
  ])('that is %s is refused as a whole, and says why', (_what, bytes, why) => {
    expect(() => decodeTraces(json(bytes), 'json')).toThrow(why);
    expect(() => decodeTraces(json(bytes), 'json')).toThrow(OtlpError);
  });

  it('in protobuf that was cut off is refused as a whole', () => {
    const whole = encodeBody(encode('Span', { traceId: bytesOf(TRACE), spanId: bytesOf(SPAN) }));
    expect(() => decodeTraces(whole.subarray(0, -1), 'protobuf')).toThrow(OtlpError);
  });

  it.each([
    [0x301, true],
    [0x100, false],
    [0x200, false],
    [1, false],
    [undefined, false],
  ])('says with flags %p whether a parent is in another process (%p)', (flags, isRemote) => {
    const parent = 'a'.repeat(16);
    const wanted = isRemote ? { parentSpanId: null, remoteParentSpanId: parent } : { parentSpanId: parent };
    const span = encode('Span', {
      ...{ traceId: bytesOf(TRACE), spanId: bytesOf(SPAN), parentSpanId: bytesOf(parent), flags },
    });
    const { spans } = read(decodeTraces(encodeBody(span), 'protobuf'));
    for (const one of [only(body(goodSpan({ parentSpanId: parent, flags }))), spans[0]]) {
      expect(one).toMatchObject(wanted);
      expect(one !== undefined && 'remoteParentSpanId' in one).toBe(isRemote);
    }
  });

  it.each([
    [2, undefined, true],
    [5, 1, true],
    ['SPAN_KIND_SERVER', undefined, true],
    ['SPAN_KIND_CONSUMER', 0, true],
    [2, 0x100, false],
    [2, 0x300, false],
    [1, undefined, false],
    [3, undefined, false],
    ['SPAN_KIND_CLIENT', undefined, false],
    [undefined, undefined, false],
  ])('takes a span of kind %p with flags %p for one that other processes ask (%p)', (kind, flags, isEntry) => {
    const parent = 'a'.repeat(16);
    const spans: (OtlpSpan | undefined)[] = [only(body(goodSpan({ parentSpanId: parent, kind, flags })))];
    if (typeof kind === 'number') {
      const ids = { traceId: bytesOf(TRACE), spanId: bytesOf(SPAN), parentSpanId: bytesOf(parent) };
      spans.push(read(decodeTraces(encodeBody(encode('Span', { ...ids, kind, flags })), 'protobuf')).spans[0]);
    }
    for (const one of spans) expect(one?.entry).toBe(isEntry ? true : undefined);
    expect(only(body(goodSpan({ kind, flags }))).entry).toBeUndefined();
  });

  it('stops at each span that is rejected, for who shares the thread', () => {
    const { steps, rejected } = decodeTraces(json(body(0, goodSpan(), {}, 0)), 'json');
    expect([...steps].map((span) => span?.spanId ?? null)).toEqual([null, SPAN, null, null]);
    expect([...rejected.values()].reduce((sum, count) => sum + count)).toBe(3);
  });

  it.each([
    [{}],
    [{ resourceSpans: [] }],
    [{ resourceSpans: null }],
    [{ resourceSpans: [{}] }],
    [{ resourceSpans: [{ scopeSpans: null }] }],
  ])('may be empty: %j', (value) => expect(readJson(value)).toEqual({ spans: [], rejected: {}, warnings: {} }));

  it('never throws anything but OtlpError, whatever the bytes, and counts what it leaves out', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom('json' as const, 'protobuf' as const), (bytes, type) => {
        try {
          read(decodeTraces(bytes, type));
        } catch (error) {
          expect(error).toBeInstanceOf(OtlpError);
        }
      }),
    );
  });

  it('loses a valid span to nothing that stands beside it', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 4 }), fc.jsonValue(), (junk, attributes) => {
        const { spans } = readJson(body(...junk, goodSpan({ attributes }), ...junk));
        expect(spans.filter(({ spanId }) => spanId === SPAN)).toHaveLength(1);
      }),
    );
  });
});

describe('a broken span', () => {
  it.each([
    ['traceId is not 16 bytes', { traceId: '' }],
    ['traceId is not 16 bytes', { traceId: '0'.repeat(32) }],
    ['traceId is not 16 bytes', { traceId: TRACE.slice(1) }],
    ['spanId is not 8 bytes', { spanId: 'abc' }],
    ['spanId is not 8 bytes', { spanId: 7 }],
  ])('is left out with the reason: %s', (reason, wrong) => {
    const { spans, rejected } = readJson(body(goodSpan(wrong), goodSpan()));
    expect(spans).toHaveLength(1);
    expect(rejected).toEqual({ [reason]: 1 });
  });

  it('in protobuf costs itself only', () => {
    const good = encode('Span', { traceId: bytesOf(TRACE), spanId: bytesOf(SPAN), name: 'good' });
    const { spans, rejected } = read(decodeTraces(encodeBody(good, good.subarray(0, 9), Buffer.from([0xff]), good), 'protobuf'));
    expect(spans.map(({ name }) => name)).toEqual(['good', 'good']);
    expect(rejected).toEqual({ 'Span is not readable as protobuf': 2 });
  });

  it('may be no span at all, like the lists around it', () => {
    const { rejected } = readJson({
      resourceSpans: [7, { scopeSpans: 'x' }, { scopeSpans: [null, { spans: {} }, { spans: [null] }] }],
    });
    expect(rejected).toEqual({
      'an item of "resourceSpans" is not an object': 1,
      '"scopeSpans" is not a list': 1,
      'an item of "scopeSpans" is not an object': 1,
      '"spans" is not a list': 1,
      'an item of "spans" is not an object': 1,
    });
  });
});

describe('an id', () => {
  it.each([
    ['hexadecimal', TRACE, SPAN],
    ['upper case', TRACE.toUpperCase(), SPAN.toUpperCase()],
    ['base64, as the JSON mapping of protobuf has it', bytesOf(TRACE).toString('base64'), bytesOf(SPAN).toString('base64')],
  ])('is taken as %s', (_form, traceId, spanId) => {
    expect(only(body(goodSpan({ traceId, spanId })))).toMatchObject({ traceId: TRACE, spanId: SPAN });
  });

  it.each([[''], [null], [undefined], ['0'.repeat(16)]])('of no parent: %j', (parentSpanId) => {
    expect(only(body(goodSpan({ parentSpanId })))).toMatchObject({ parentSpanId: null, notes: [] });
  });

  it.each([
    ['xyz', 'parentSpanId is not 8 bytes'],
    [SPAN, 'the span named itself as its parent'],
  ])('of an impossible parent is left out and noted: %s', (parentSpanId, note) =>
    expect(only(body(goodSpan({ parentSpanId })))).toMatchObject({ parentSpanId: null, notes: [note] }),
  );
});

describe('a time', () => {
  it.each<[string, string, bigint | null, string[]]>([
    ['text', '"1769000000123456789"', START, []],
    ['a number, to the last digit', '1769000000123456789', START, []],
    ['a number in exponent form', '1.769e18', 1_769_000_000_000_000_000n, []],
    ['two halves', '{"low": -1, "high": 411877539, "unsigned": true}', (411_877_539n << 32n) | 0xffffffffn, []],
    ['milliseconds', '"1769000000123"', 1_769_000_000_123_000_000n, ['startTimeUnixNano was sent in milliseconds']],
    ['microseconds', '1769000000123456', 1_769_000_000_123_456_000n, ['startTimeUnixNano was sent in microseconds']],
    ['seconds', '1769000000', 1_769_000_000_000_000_000n, ['startTimeUnixNano was sent in seconds']],
    ['missing', 'null', null, []],
    ['zero', '0', null, []],
    ['too small for any unit', '12', null, ['startTimeUnixNano is no time']],
    ['beyond what is a safe integer of microseconds', '"18446744073709551615"', null, ['startTimeUnixNano is no time']],
    ['between nanoseconds and microseconds', '99999999999999999', null, ['startTimeUnixNano is no time']],
    ['milliseconds of the year 5138', '99999999999999', null, ['startTimeUnixNano is no time']],
    ['words', '"yesterday"', null, ['startTimeUnixNano is no time']],
  ])('as %s', (_form, written, start, notes) => {
    const raw = JSON.stringify(body(goodSpan({ startTimeUnixNano: 'TIME' }))).replace('"TIME"', written);
    expect(only(raw)).toMatchObject({ start, notes });
  });
});

describe('an attribute', () => {
  const attributes = (...list: unknown[]): unknown[] => [...only(body(goodSpan({ attributes: list }))).attributes];

  it('without a value or without a key is none', () => {
    expect(
      attributes({ key: 'user.note' }, { key: 'x', value: {} }, { value: { intValue: 1 } }, null, 'x', text('', 'x')),
    ).toEqual([]);
  });

  it('whose value says no value is null, and counted', () => {
    const values = [{ doubleValue: null }, { doubleValue: 'NaN' }, { intValue: 'many' }, { arrayValue: null }];
    const { spans, warnings } = readJson(body(goodSpan({ attributes: values.map((value, n) => ({ key: String(n), value })) })));
    expect([...spans[0]!.attributes.values()]).toEqual([null, null, null, null]);
    expect(warnings).toEqual({ 'a value that says none became null': 1 });
  });

  it('in protobuf that is not a number is null as well', () => {
    const list = [{ key: 'tokens', value: { doubleValue: NaN } }];
    const span = encode('Span', { traceId: bytesOf(TRACE), spanId: bytesOf(SPAN), attributes: list });
    const { spans, warnings } = read(decodeTraces(encodeBody(span), 'protobuf'));
    expect([...spans[0]!.attributes]).toEqual([['tokens', null]]);
    expect(warnings).toEqual({ 'a value that says none became null': 1 });
  });

  it('said twice counts as said last', () => expect(attributes(text('a', '1'), text('a', '2'))).toEqual([['a', '2']]));

  it('nested without end is cut off', () => {
    const nested = Array.from({ length: 500 }).reduce<object>((value) => ({ arrayValue: { values: [value] } }), { intValue: 1 });
    expect(JSON.stringify(attributes({ key: 'deep', value: nested }))).toBe(JSON.stringify([['deep', nestedLists(65)]]));
  });
});

function nestedLists(depth: number): unknown {
  return Array.from({ length: depth }).reduce<unknown>((value) => [value], null);
}

describe('a status', () => {
  it.each([
    [{ code: 1 }, 'OK'],
    [{ code: 2 }, 'ERROR'],
    [{ code: 'STATUS_CODE_ERROR' }, 'ERROR'],
    [{ code: 9 }, 'UNSET'],
    [{}, 'UNSET'],
    [null, 'UNSET'],
  ])('%j is %s', (status, code) => expect(only(body(goodSpan({ status }))).status.code).toBe(code));
});
