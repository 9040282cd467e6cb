import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { jsonBytes, unitsFittingHead, unitsFittingTail } from './json-size.js';
import { stringifyJson } from './json.js';

describe('jsonBytes', () => {
  it('is the length of the JSON in UTF-8', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '"', '\\', '\n', '\b', '\v', '\0', '\x7f', 'é', '€', '😀', '\ud800', '\udc00'),
    });
    const value = fc.object({
      key: text,
      values: [text, fc.double(), fc.integer(), fc.bigInt(), fc.constantFrom(null, true, undefined, [], {})],
    });
    fc.assert(
      fc.property(value, (json) => {
        expect(jsonBytes(json)).toBe(Buffer.byteLength(stringifyJson(json)));
      }),
    );
  });
});

describe('units that fit', () => {
  it('never split a pair', () => {
    expect(unitsFittingHead('a😀b', 4)).toBe(1);
    expect(unitsFittingHead('a😀b', 5)).toBe(3);
    expect(unitsFittingTail('a😀b', 4)).toBe(1);
    expect(unitsFittingTail('a😀b', 5)).toBe(3);
    expect(unitsFittingTail('\n"', 3)).toBe(1);
    expect(unitsFittingHead('abc', 99)).toBe(3);
    expect(unitsFittingTail('abc', 99)).toBe(3);
  });
});
