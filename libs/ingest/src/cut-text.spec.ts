import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cutText, SMALLEST_CUT } from './cut-text.js';
import { jsonStringBytes } from './json-size.js';

describe('cutText', () => {
  it('keeps head and tail and says how much is gone', () => {
    expect(cutText(`${'a'.repeat(50)}${'b'.repeat(50)}`, 46)).toBe('aaaaa…[cut 90 characters]…bbbbb');
    expect(cutText('😀'.repeat(20), 46)).toBe('😀…[cut 18 characters]…😀');
    expect(cutText('short', 46)).toBe('short');
  });
  it('always fits, and stays well-formed', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '"', '\n', '\0', 'é', '€', '😀'), maxLength: 300 });
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 400 }), (whole, maxBytes) => {
        const cut = cutText(whole, maxBytes);
        expect(jsonStringBytes(cut)).toBeLessThanOrEqual(Math.max(maxBytes, SMALLEST_CUT));
        expect(cut).not.toMatch(/[\ud800-\udfff]/u);
        expect(cutText(cut, maxBytes)).toBe(cut);
      }),
    );
  });
});
