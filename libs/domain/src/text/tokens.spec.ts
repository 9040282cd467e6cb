import { describe, expect, it } from '@jest/globals';
import { tokens, tokenSet } from './tokens.js';

describe('tokens', () => {
  it('are sorted, distinct, two characters or more, stop words kept', () => {
    expect(tokens('The straße, the X-ray a 50_b')).toEqual(['50_b', 'ray', 'strasse', 'the']);
  });
  it('lose the stop words for comparison', () => {
    expect([...tokenSet('When the task fails, retry it')]).toEqual(['fails', 'retry']);
  });
});
