import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { codePointLength, firstCodePoints } from './code-points.js';

describe('code points', () => {
  it('counts an emoji once and never cuts it in half', () => {
    expect(codePointLength('a😀b')).toBe(3);
    expect(firstCodePoints('a😀b', 2)).toBe('a😀');
    expect(firstCodePoints('a😀b', 0)).toBe('');
  });

  it('agrees with the string iterator, lone surrogates included', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '😀', '\ud800', '\udc00') }), fc.nat(20), (text, count) => {
        expect(codePointLength(text)).toBe(Array.from(text).length);
        expect(firstCodePoints(text, count)).toBe(Array.from(text).slice(0, count).join(''));
      }),
    );
  });
});
