import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cutToFit } from './bounded.js';
import { stringifyJson } from './json.js';

const span = (id: string, fields: object): object => ({
  span_id: id,
  name: `span ${id}`,
  kind: 'TOOL',
  status: 'OK',
  started_at: '2026-01-21T12:53:20Z',
  ...fields,
});
const turnOf = (...spans: object[]) => ({ session_id: 's', turn_index: 1, traces: [{ trace_id: 't', spans }] });
const bytesOf = (value: unknown): number => Buffer.byteLength(stringifyJson(value));

interface SpanFields {
  readonly input: { readonly q: string; readonly messages: readonly { readonly content: string }[] };
  readonly output: string;
  readonly error: { readonly message: string };
}

/** Everything but the fields that may be cut. */
const skeleton = (turn: unknown): string =>
  JSON.stringify(
    turn,
    (key, value: unknown) => (['input', 'output', 'metadata', 'error', 'end_state'].includes(key) ? 0 : value),
    0,
  );

describe('cutToFit', () => {
  it('gives a turn that fits back as it is', () => {
    const turn = turnOf(span('a', { input: 'x' }));
    const result = cutToFit(turn, bytesOf(turn));
    expect(result).toEqual({ value: turn, cut: 0, fits: true });
    expect(result.value).toBe(turn);
  });

  it('cuts the longest texts to one length and leaves the short ones alone', () => {
    const turn = turnOf(
      span('a', { input: { q: 'short', messages: [{ content: `${'h'.repeat(9000)}${'t'.repeat(9000)}` }] } }),
      span('b', { output: 'o'.repeat(5000), error: { type: 'E', message: 'm'.repeat(900) } }),
    );
    const { value, cut, fits } = cutToFit(turn, 6000);
    expect({ cut, fits }).toEqual({ cut: 2, fits: true });
    expect(bytesOf(value)).toBeLessThanOrEqual(6000);
    expect(bytesOf(value)).toBeGreaterThan(5900);
    expect(skeleton(value)).toBe(skeleton(turn));
    const [a, b] = (value as ReturnType<typeof turnOf>).traces[0]!.spans as SpanFields[];
    expect(a!.input.q).toBe('short');
    expect(a!.input.messages[0]!.content).toMatch(/^h+…\[cut \d+ characters\]…t+$/);
    expect(b!.output).toMatch(/^o+…\[cut \d+ characters\]…o+$/);
    expect(b!.error.message).toHaveLength(900);
  });

  it('cuts whole fields as JSON text when they hold too many small parts', () => {
    const rows = Array.from({ length: 5000 }, (_, row) => ({ row, name: 'n' }));
    const turn = turnOf(span('a', { input: { q: 'keep' }, output: rows, metadata: { id: 12345678901234567890n } }));
    const { value, cut, fits } = cutToFit(turn, 2000);
    expect({ cut, fits }).toEqual({ cut: 1, fits: true });
    expect(bytesOf(value)).toBeLessThanOrEqual(2000);
    const [a] = (value as ReturnType<typeof turnOf>).traces[0]!.spans as SpanFields[];
    expect(a).toMatchObject({ input: { q: 'keep' }, metadata: { id: 12345678901234567890n } });
    expect(a!.output).toMatch(/^\[\{"row":0,"name":"n"\}.*…\[cut \d+ characters\]….*\{"row":4999,"name":"n"\}\]$/);
  });

  it('says when the skeleton alone is too large', () => {
    const turn = turnOf(...Array.from({ length: 100 }, (_, index) => span(String(index), { input: 'x'.repeat(500) })));
    const { value, fits } = cutToFit(turn, 1000);
    expect(fits).toBe(false);
    expect(skeleton(value)).toBe(skeleton(turn));
  });

  it('fits, keeps the skeleton, is well-formed and deterministic, for any turn', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '"', '\0', '€', '😀', 'long text '.repeat(20)), maxLength: 60 });
    const field = fc.oneof(
      text,
      fc.array(text, { maxLength: 5 }),
      fc.dictionary(text, text, { maxKeys: 5 }),
      fc.array(fc.integer(), { maxLength: 300 }),
    );
    const spans = fc.array(fc.record({ input: field, output: field, metadata: field }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(spans, fc.integer({ min: 100, max: 20_000 }), (fields, room) => {
        const turn = turnOf(...fields.map((each, index) => span(String(index), each)));
        const maxBytes = Buffer.byteLength(skeleton(turn)) + fields.length * 3 * 36 + room;
        const result = cutToFit(turn, maxBytes);
        expect(result.fits).toBe(true);
        expect(bytesOf(result.value)).toBeLessThanOrEqual(maxBytes);
        expect(result.value === turn).toBe(result.cut === 0);
        expect(skeleton(result.value)).toBe(skeleton(turn));
        expect(stringifyJson(result.value)).not.toMatch(/\\ud[89a-f]/);
        expect(cutToFit(turn, maxBytes)).toEqual(result);
        expect(cutToFit(result.value, maxBytes)).toEqual({ value: result.value, cut: 0, fits: true });
      }),
    );
  });
});
