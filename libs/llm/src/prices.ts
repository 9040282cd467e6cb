/** List prices in US dollars for a million tokens; `outputPerMillion` is 0 for embeddings. */
export interface Price {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
}

export interface PriceTable {
  /** Null for a model without a price: its cost is unknown, not nothing. */
  price(model: string): Price | null;
}
