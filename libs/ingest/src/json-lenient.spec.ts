import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JsonSyntaxError } from './json-error.js';
import { LenientReader } from './json-lenient.js';

const read = (text: string): unknown => new LenientReader(text).read();

describe('LenientReader', () => {
  it('reads every JSON text as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), fc.constantFrom(undefined, 2, '\t'), (json, space) => {
        const text = JSON.stringify(JSON.parse(json), null, space);
        // Integers beyond 2^53 are the one difference, on purpose.
        fc.pre(!/\d{16}/.test(text));
        expect(read(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('refuses every text that JSON.parse refuses, but for what it forgives', () => {
    const fragments = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      'a',
      '0',
      '1',
      '-',
      '.',
      'e',
      '+',
      'true',
      'null',
      ' ',
      "'",
      '/',
    );
    fc.assert(
      fc.property(fc.array(fragments, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(() => read(text)).toThrow(JsonSyntaxError);
          return;
        }
        expect(read(text)).toEqual(expected);
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ['', 1, 'ends where a value is expected'],
    ['{"a":1,}', 8, 'a key in double quotes'],
    ["{'a':1}", 2, 'a key in double quotes'],
    ['{"a" 1}', 6, 'a colon'],
    ['{"a":1 "b"', 8, 'a comma or }'],
    ['[1 2]', 4, 'a comma or ]'],
    ['[1,]', 4, 'a value is expected'],
    ['"abc', 1, 'does not end'],
    ['"\\x"', 1, 'an escape'],
    ['[01]', 3, 'not one in JSON'],
    ['[1.]', 3, 'not one in JSON'],
    ['[undefined]', 2, 'a value is expected'],
    ['{} {}', 4, 'one JSON value only'],
    [`[${'9'.repeat(5000)}]`, 4098, 'over 4096 digits'],
  ])('says what is wrong with %.20j at column %d: %s', (text, column, reason) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ line: 1, column, message: expect.stringContaining(reason) }));
  });

  it('lets the last of equal keys win and keeps __proto__ as data', () => {
    const value = read('{"a":1,"a":2,"__proto__":{"x":1}}');
    expect(JSON.stringify(value)).toBe('{"a":2,"__proto__":{"x":1}}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it('refuses deep nesting itself', () => {
    expect(() => read('['.repeat(100_000))).toThrow('nested deeper than 200');
  });
});
