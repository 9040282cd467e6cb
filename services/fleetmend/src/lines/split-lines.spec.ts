import { describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { isBlank, splitLines } from './split-lines.js';

async function split(chunks: readonly string[], maxBytes?: number): Promise<(string | null)[]> {
  const lines: (string | null)[] = [];
  for await (const { number, bytes } of splitLines(Readable.from(chunks.map((one) => Buffer.from(one))), maxBytes)) {
    expect(number).toBe(lines.length + 1);
    lines.push(bytes?.toString() ?? null);
  }
  return lines;
}

describe('lines', () => {
  it('end with LF or CRLF; the last needs no end', async () => {
    expect(await split(['a\r\nb\n\nc'])).toEqual(['a', 'b', '', 'c']);
    expect(await split(['a\n'])).toEqual(['a']);
    expect(await split([])).toEqual([]);
  });

  it('that are too long are named, not held', async () => {
    expect(await split(['12345678', '9\nshort\n'], 5)).toEqual([null, 'short']);
  });

  it('are the same however the bytes come', async () => {
    const lines = fc.array(fc.string({ unit: fc.constantFrom('a', 'ä', ' ') }), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 1, max: 7 }), async (given, size) => {
        const bytes = Buffer.from(given.map((line) => `${line}\n`).join(''));
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
          bytes.subarray(at * size, (at + 1) * size),
        );
        const found: string[] = [];
        for await (const { bytes: line } of splitLines(Readable.from(chunks))) found.push(String(line));
        expect(found).toEqual(given);
      }),
    );
  });

  it('of white space are blank', () => {
    expect([' \t', '', 'x'].map((text) => isBlank(Buffer.from(text)))).toEqual([true, true, false]);
  });
});
