/** What a call cost, whether it succeeded or not. */
export interface Usage {
  /** HTTP requests sent, retries and fallbacks included. */
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars by the price table; null when tokens were spent on a model without a price. */
  readonly costUsd: number | null;
  /** Time spent in requests, summed; waiting for a slot or for a hint to pass is not in it. */
  readonly latencyMs: number;
  /** What a reader of the run should know, each once: "reasoning_effort not accepted", "tokens estimated". */
  readonly notes: readonly string[];
}

export const NO_USAGE: Usage = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0, latencyMs: 0, notes: [] };

/** The sum of two; unpriced plus anything is unpriced. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    calls: a.calls + b.calls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    costUsd: a.costUsd === null || b.costUsd === null ? null : a.costUsd + b.costUsd,
    latencyMs: a.latencyMs + b.latencyMs,
    notes: [...new Set([...a.notes, ...b.notes])],
  };
}
