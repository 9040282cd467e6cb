import { describe, expect, it } from '@jest/globals';
import { collapseWhiteSpace } from './white-space.js';

describe('collapseWhiteSpace', () => {
  it('makes every run one space and trims the ends', () => {
    expect(collapseWhiteSpace(' \n a\u00a0\u2028 b\x1c\x85c\t')).toBe('a b c');
  });
  it('does not take the invisible U+FEFF for white space', () => {
    expect(collapseWhiteSpace('a\ufeffb')).toBe('a\ufeffb');
  });
});
