import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JsonSyntaxError } from './json-error.js';
import { parseJson, stringifyJson } from './json.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('parseJson', () => {
  it('reads plain JSON from text and from bytes, without notes', () => {
    expect(parseJson('{"a":[1,"é"]}')).toEqual({ value: { a: [1, 'é'] }, notes: [] });
    expect(parseJson(bytes('{"a":[1,"é"]}'))).toEqual({ value: { a: [1, 'é'] }, notes: [] });
  });

  it('keeps integers beyond 2^53 as bigints and smaller ones as numbers', () => {
    expect(parseJson('[9007199254740991, 9007199254740993, -76561198016705746, 1e30, 0.12345678901234567, -0]').value).toEqual([
      9007199254740991,
      9007199254740993n,
      -76561198016705746n,
      1e30,
      0.12345678901234567,
      -0,
    ]);
  });

  it('turns NaN and Infinity into null, with one note', () => {
    expect(parseJson('{"a": NaN, "b": [Infinity, -Infinity], "c": "NaN"}')).toEqual({
      value: { a: null, b: [null, null], c: 'NaN' },
      notes: ['NaN and Infinity became null'],
    });
  });

  it('accepts raw control characters inside strings, with one note', () => {
    expect(parseJson('{"a\0":"x\ny\tz\x01\\n"}')).toEqual({
      value: { 'a\0': 'x\ny\tz\x01\n' },
      notes: ['raw control characters inside strings were accepted'],
    });
  });

  it('drops a byte order mark', () => {
    expect(parseJson('\ufeff{"a":1}')).toEqual({ value: { a: 1 }, notes: [] });
    expect(parseJson(bytes('\ufeff{"a":NaN}')).value).toEqual({ a: null });
  });

  it('replaces bytes that are not UTF-8, with a note', () => {
    expect(parseJson(Uint8Array.from([0x22, 0xff, 0x22]))).toEqual({
      value: '\ufffd',
      notes: ['bytes that are not UTF-8 were replaced by U+FFFD'],
    });
  });

  it('says where a text cannot be read', () => {
    expect(() => parseJson('{\n  "a": 1,\n  "b": oops\n}')).toThrow(expect.objectContaining({ line: 3, column: 8 }));
    expect(() => parseJson(new Uint8Array())).toThrow(JsonSyntaxError);
  });

  it('survives ten million brackets', () => {
    expect(() => parseJson('['.repeat(10_000_000))).toThrow('nested deeper than 200 levels');
    expect(() => parseJson(`{"a":${'{"a":'.repeat(1_000_000)}`)).toThrow('nested deeper than 200 levels');
  });

  it('reads megabytes on the careful path', () => {
    const text = 'x'.repeat(8_000_000);
    expect(parseJson(`{"a":"${text}","n":12345678901234567890}`).value).toEqual({ a: text, n: 12345678901234567890n });
  });
});

describe('stringifyJson', () => {
  it('writes bigints as plain integers', () => {
    expect(stringifyJson({ id: 76561198016705746n, a: [1, 'x', null, undefined], u: undefined })).toBe(
      '{"id":76561198016705746,"a":[1,"x",null,null]}',
    );
    expect(stringifyJson(undefined)).toBe('null');
  });
  it('reports a value that contains itself', () => {
    const loop: unknown[] = [];
    loop.push(loop);
    expect(() => stringifyJson(loop)).toThrow(RangeError);
  });
  it('brings every value back, with parseJson', () => {
    const value = fc.jsonValue({ stringUnit: 'binary' });
    const big = fc.bigInt({ min: 2n ** 53n, max: 2n ** 80n });
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            value,
            big,
            big.map((integer) => -integer),
          ),
        ),
        (items) => {
          expect(stringifyJson(parseJson(stringifyJson(items)).value)).toBe(stringifyJson(items));
        },
      ),
    );
  });
});

interface Case {
  readonly inputs: { readonly name: string; readonly body?: unknown; readonly bodyText?: string }[];
}

describe.each(['14-nul-byte-jsonb', '17-bigint-ids-as-strings'])('case %s', (name) => {
  const file = new URL(`../../../../shared/data/cases/${name}.json`, import.meta.url);
  if (!existsSync(file) && process.env['CI'] !== 'true') {
    it.skip(`is not there: ${file.pathname}`, () => undefined);
    return;
  }
  const { inputs } = JSON.parse(readFileSync(file, 'utf8')) as Case;
  it.each(inputs)('is read to the last character: $name', ({ body, bodyText }) => {
    const text = bodyText ?? JSON.stringify(body);
    const { value, notes } = parseJson(text);
    expect(notes).toEqual([]);
    expect(stringifyJson(value)).toBe(bodyText === undefined ? text : text.replace(/([:,]) /g, '$1'));
  });
  it('is not empty', () => {
    expect(inputs.length).toBeGreaterThan(0);
  });
});
