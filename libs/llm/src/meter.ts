import type { Price } from './price-list.js';
import { addUsage, NO_USAGE, type Usage } from './usage.js';

export interface Tokens {
  readonly input: number;
  readonly output: number;
}

/** Adds up what one call spends over its requests, so that it is known also when the call fails. */
export class Meter {
  private total: Usage = NO_USAGE;

  constructor(private readonly price: Price | null) {}

  get usage(): Usage {
    return { ...this.total, latencyMs: Math.round(this.total.latencyMs) };
  }

  request(latencyMs: number): void {
    this.total = { ...this.total, calls: this.total.calls + 1, latencyMs: this.total.latencyMs + latencyMs };
  }

  tokens(spent: Tokens): void {
    const { input, output } = spent;
    this.total = addUsage(this.total, { ...NO_USAGE, inputTokens: input, outputTokens: output, costUsd: this.costOf(spent) });
  }

  note(...notes: readonly string[]): void {
    this.total = addUsage(this.total, { ...NO_USAGE, notes });
  }

  private costOf({ input, output }: Tokens): number | null {
    if (input + output === 0) return 0;
    if (this.price === null) return null;
    return (input * this.price.inputPerMillion + output * this.price.outputPerMillion) / 1_000_000;
  }
}
