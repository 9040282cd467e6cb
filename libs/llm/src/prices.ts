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

/** Model prices of the settings (`model_prices`) as overrides. */
export function pricesFromSettings(
  prices: Readonly<Record<string, { readonly input: number; readonly output: number }>>,
): Record<string, Price> {
  return Object.fromEntries(
    Object.entries(prices).map(([model, { input, output }]) => [model, { inputPerMillion: input, outputPerMillion: output }]),
  );
}

export interface ModelSettings {
  readonly judge_model: string | null;
  readonly embedding_model: string | null;
  readonly repair_model: string | null;
  readonly max_cost_usd: number;
}

/** The model that runs in the scoring service costs nothing. */
const FREE = 'local';

/** Settings that limit what models may cost while nobody knows what they do: the setting at fault and why; null when all is well. */
export function unpriced(
  settings: ModelSettings,
  prices: PriceTable,
): { readonly setting: string; readonly message: string } | null {
  if (settings.max_cost_usd <= 0) return null;
  for (const setting of ['judge_model', 'embedding_model', 'repair_model'] as const) {
    const model = settings[setting];
    if (model === null || model === FREE || prices.price(model) !== null) continue;
    const message = `the model ${model} has no price, so max_cost_usd cannot be kept: give its price in model_prices of the services, or set max_cost_usd to 0`;
    return { setting, message };
  }
  return null;
}
