import { describe, expect, it } from '@jest/globals';
import { canonicalJson } from './canonical-json.js';

describe('canonicalJson', () => {
  it('sorts keys by code point, separates with a space and escapes what is not ASCII', () => {
    expect(canonicalJson({ '\u{1f600}': 1, '\uff5e': 2, b: [true, null, 'é\x7f"'], a: 12345678901234567890n })).toBe(
      '{"a": 12345678901234567890, "b": [true, null, "\\u00e9\\u007f\\""], "\\uff5e": 2, "\\ud83d\\ude00": 1}',
    );
  });
  it('writes what JSON has no word for as null', () => {
    expect(canonicalJson([NaN, undefined])).toBe('[null, null]');
  });
});
