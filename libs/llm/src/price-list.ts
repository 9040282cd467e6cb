/** US dollars for a million tokens; `outputPerMillion` is 0 for embeddings. */
export interface Price {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
}

/**
 * When the list was put together, from public transcriptions of the makers' price pages (Anthropic and Google as of October
 * 2026, OpenAI as of March to September 2026), not from the pages themselves. Makers change prices several times a year:
 * whoever bills or budgets by them overrides them.
 */
export const PRICES_TAKEN = '2026-11-30';

const price = (inputPerMillion: number, outputPerMillion: number): Price => ({ inputPerMillion, outputPerMillion });

/** List prices, standard tier, the shorter prompts where a maker has two tiers; names without maker and edition. */
export const PRICE_LIST: Readonly<Record<string, Price>> = {
  'gpt-5.5': price(5, 30),
  'gpt-5.4': price(2.5, 15),
  'gpt-5.4-mini': price(0.75, 4.5),
  'gpt-5.4-nano': price(0.2, 1.25),
  'gpt-5.2': price(1.75, 14),
  'gpt-5.1': price(1.25, 10),
  'gpt-5': price(1.25, 10),
  'gpt-5-mini': price(0.25, 2),
  'gpt-5-nano': price(0.05, 0.4),
  'gpt-4.1': price(2, 8),
  'gpt-4.1-mini': price(0.4, 1.6),
  'gpt-4.1-nano': price(0.1, 0.4),
  'gpt-4o': price(2.5, 10),
  'gpt-4o-mini': price(0.15, 0.6),
  o3: price(2, 8),
  'o3-mini': price(1.1, 4.4),
  'text-embedding-3-small': price(0.02, 0),
  'text-embedding-3-large': price(0.13, 0),
  'text-embedding-ada-002': price(0.1, 0),
  'claude-opus-5': price(5, 25),
  'claude-opus-4-7': price(5, 25),
  'claude-opus-4-6': price(5, 25),
  'claude-opus-4-5': price(5, 25),
  'claude-opus-4-1': price(15, 75),
  'claude-sonnet-5-5': price(2, 10),
  'claude-sonnet-5': price(2, 10),
  'claude-sonnet-4-6': price(3, 15),
  'claude-sonnet-4-5': price(3, 15),
  'claude-haiku-4-5': price(1, 5),
  'claude-3-5-haiku': price(0.8, 4),
  'gemini-2.5-pro': price(1.25, 10),
  'gemini-2.5-flash': price(0.3, 2.5),
  'gemini-2.5-flash-lite': price(0.1, 0.4),
  'gemini-3.5-flash': price(1.5, 9),
};
