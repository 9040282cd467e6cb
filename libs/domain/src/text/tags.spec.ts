import { describe, expect, it } from '@jest/globals';
import { cleanTags, normalizeTag } from './tags.js';

describe('tags', () => {
  it('are trimmed, folded and cut', () => {
    expect(normalizeTag(`  ẞ${'x'.repeat(60)}`)).toBe(`ss${'x'.repeat(46)}`);
  });
  it('have no blanks and no repeats, and are 16 at most', () => {
    expect(cleanTags(['B', ' ', 'a', 'b '])).toEqual(['b', 'a']);
    expect(cleanTags(Array.from({ length: 30 }, (_, index) => `t${String(index)}`))).toHaveLength(16);
  });
});
