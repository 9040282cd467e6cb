import { describe, expect, it } from '@jest/globals';
import { countTokens } from './tokens.js';

describe('counting tokens', () => {
  it.each<[string, number]>([
    ['', 0],
    ['hello world', 2],
    ['<|endoftext|>', 7],
  ])('counts %j', async (text, count) => {
    expect(await countTokens(text)).toBe(count);
  });

  it.each(['a', ' ', '漢字', '👩‍👩‍👧', '\ud800', '!'])(
    'needs twice the tokens and no more for twice the text of %j',
    async (unit) => {
      // Whole, each of these would take the tokenizer minutes.
      const text = unit.repeat(512 * 500);
      expect(await countTokens(text + text)).toBe(2 * (await countTokens(text)));
    },
  );

  it('counts prose in pieces at most 1 % higher than whole', async () => {
    const sentence = 'The quick brown fox jumps over the lazy dog. ';
    const whole = 10 * 2000;
    expect(Math.abs((await countTokens(sentence.repeat(2000))) - whole) / whole).toBeLessThan(0.01);
  });
});
