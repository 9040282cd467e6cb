import { describe, expect, it } from '@jest/globals';
import { priceTable } from './prices.js';

const mini = { inputPerMillion: 0.15, outputPerMillion: 0.6 };

describe('the price table', () => {
  it.each(['gpt-4o-mini', 'gpt-4o-mini-2024-07-18', 'openai/gpt-4o-mini', 'openai/gpt-4o-mini-2024-07-18'])(
    'prices %s',
    (model) => {
      expect(priceTable().price(model)).toEqual(mini);
    },
  );

  it.each([
    'claude-sonnet-4-5-20250929',
    'anthropic/claude-sonnet-4-5',
    'claude-sonnet-4-5@20250929',
    'claude-sonnet-4-5-latest',
  ])('prices %s', (model) => {
    expect(priceTable().price(model)).toEqual({ inputPerMillion: 3, outputPerMillion: 15 });
  });

  it.each([
    'llama-3.3-70b',
    'gpt-4o-mini-tuned',
    'gpt-4o-audio-preview',
    'someone/gpt-4o',
    'gpt-4',
    '',
    '__proto__',
    'constructor',
  ])('has no price for %j, rather than that of a model with a similar name', (model) => {
    expect(priceTable().price(model)).toBeNull();
  });

  it('has embeddings, whose output costs nothing', () => {
    expect(priceTable().price('text-embedding-3-small')).toEqual({ inputPerMillion: 0.02, outputPerMillion: 0 });
  });

  it('takes overrides first, for every edition of a model', () => {
    const own = { inputPerMillion: 0, outputPerMillion: 0 };
    const prices = priceTable({ 'gpt-4o-mini': own, 'local/qwen': own });
    expect(prices.price('openai/gpt-4o-mini-2024-07-18')).toBe(own);
    expect(prices.price('local/qwen')).toBe(own);
    expect(prices.price('gpt-4o')).not.toBeNull();
  });
});
