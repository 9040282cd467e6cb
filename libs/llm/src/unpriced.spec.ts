import { describe, expect, it } from '@jest/globals';
import { pricesFromSettings, priceTable, unpriced } from './prices.js';

const settings = { judge_model: 'our-own', embedding_model: null, repair_model: null, max_cost_usd: 1 };

describe('a limit on cost', () => {
  it.each([
    ['with a model that nobody has a price for is refused', settings, {}, 'judge_model'],
    [
      'with embeddings that nobody has a price for is refused',
      { ...settings, judge_model: null, embedding_model: 'x' },
      {},
      'embedding_model',
    ],
    [
      'with a repair model that nobody has a price for is refused',
      { ...settings, judge_model: null, repair_model: 'x' },
      {},
      'repair_model',
    ],
    ['with a price in the settings is kept', settings, { 'our-own': { input: 1, output: 2 } }, undefined],
    ['with a model that costs nothing is kept', settings, { 'our-own': { input: 0, output: 0 } }, undefined],
    ['with the local model is kept', { ...settings, judge_model: null, embedding_model: 'local' }, {}, undefined],
    ['that is none asks nothing', { ...settings, max_cost_usd: 0 }, {}, undefined],
  ])('%s', (_, given, prices, setting) => {
    expect(unpriced(given, priceTable(pricesFromSettings(prices)))?.setting).toBe(setting);
  });
});
