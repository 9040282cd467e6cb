import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { caseFold } from './case-fold.js';

describe('caseFold', () => {
  it.each([
    ['ABC', 'abc'],
    ['Straße', 'strasse'],
    ['STRAẞE', 'strasse'],
    ['ſecret', 'secret'],
    ['ı', 'ı'],
    ['ΣΊΣΥΦΟΣ', 'σίσυφοσ'],
    ['σίσυφος', 'σίσυφοσ'],
    ['İ', 'i̇'],
    ['ﬁ', 'fi'],
    ['\u212a', 'k'],
  ])('folds %s to %s', (text, folded) => {
    expect(caseFold(text)).toBe(folded);
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(caseFold(caseFold(text))).toBe(caseFold(text));
      }),
    );
  });
});
