import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { chunksOf, type WrittenSpan } from './span-chunks.js';

const span = (trace: string, id: number, padding = 0): WrittenSpan => {
  const text = JSON.stringify({ trace, id, padding: 'é'.repeat(padding) });
  return { trace, text, bytes: Buffer.byteLength(text) };
};
const read = (text: string) => (JSON.parse(text) as { spans: { trace: string; id: number }[] }).spans;
const tracesOf = (text: string): string[] => [...new Set(read(text).map(({ trace }) => trace))];

describe('chunksOf', () => {
  it('makes nothing of nothing', () => {
    expect(chunksOf([], 100)).toEqual([]);
  });

  it('brings the spans of a trace together, also where they came interleaved', () => {
    const spans = [span('a', 0), span('b', 1), span('a', 2), span('b', 3)];
    const chunks = chunksOf(spans, 90);
    expect(chunks.map(({ text }) => tracesOf(text))).toEqual([['a'], ['b']]);
    expect(chunks.map(({ spans: count }) => count)).toEqual([2, 2]);
  });

  it('begins a new chunk for a trace that would not fit whole into the open one', () => {
    const chunks = chunksOf([span('a', 0, 20), span('b', 1, 20), span('b', 2, 20)], 170);
    expect(chunks.map(({ text }) => tracesOf(text))).toEqual([['a'], ['b']]);
  });

  it('divides a trace that is larger than a chunk', () => {
    const chunks = chunksOf(
      Array.from({ length: 9 }, (_, id) => span('a', id, 10)),
      200,
    );
    expect(chunks.length).toBeGreaterThan(1);
    expect(chunks.flatMap(({ text }) => read(text).map(({ id }) => id))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('puts a span that is larger than a chunk into one of its own', () => {
    const chunks = chunksOf([span('a', 0), span('a', 1, 500), span('a', 2)], 200);
    expect(chunks.map(({ text }) => read(text).map(({ id }) => id))).toEqual([[0], [1], [2]]);
  });

  it('loses and repeats no span, says its bytes, and exceeds the limit only for single spans', () => {
    const one = fc.record({ trace: fc.constantFrom('a', 'b', 'c', 'd'), padding: fc.integer({ min: 0, max: 150 }) });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 60 }), fc.integer({ min: 60, max: 600 }), (items, max) => {
        const spans = items.map(({ trace, padding }, id) => span(trace, id, padding));
        const chunks = chunksOf(spans, max);
        for (const { text, bytes, spans: count } of chunks) {
          expect(Buffer.byteLength(text)).toBe(bytes);
          expect(read(text)).toHaveLength(count);
          expect(bytes <= max || count === 1).toBe(true);
        }
        const ids = chunks.flatMap(({ text }) => read(text).map(({ id }) => id));
        expect(ids.sort((a, b) => a - b)).toEqual(spans.map((_, id) => id));
      }),
    );
  });
});
