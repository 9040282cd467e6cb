import { type Price, PRICE_LIST } from './price-list.js';

export interface PriceTable {
  /** Null for a model without a price: its cost is unknown, not nothing. */
  price(model: string): Price | null;
}

/** Makers in front of a model's name, as routers and gateways write them. A host's own name is not here: hosts have prices of their own. */
const MAKER = /^(models\/|(openai|anthropic|google|gemini|deepseek|mistral|mistralai)\/)/;
/** "-2024-08-06", "-20250929", "@20250929", "-0613", "-latest". A preview or a size is another model. */
const EDITION = /(-\d{4}-\d{2}-\d{2}|[-@]\d{8}|-\d{4}|-latest)$/;

/**
 * Prices by model name: the exact name, then without its maker, then without its edition; `overrides` go first each time.
 * The shipped list (`PRICES_TAKEN`) is of list prices in the standard tier: discounts for cached or batched input, and
 * surcharges on long prompts, are not in it.
 */
export function priceTable(overrides: Readonly<Record<string, Price>> = {}): PriceTable {
  const prices = new Map([...Object.entries(PRICE_LIST), ...Object.entries(overrides)]);
  return {
    price: (model) => {
      const bare = model.replace(MAKER, '');
      const names = [model, bare, model.replace(EDITION, ''), bare.replace(EDITION, '')];
      const name = names.find((each) => prices.has(each));
      return name === undefined ? null : (prices.get(name) ?? null);
    },
  };
}
