/** What one model behind one endpoint takes, as far as its refusals have told. */
export interface Capabilities {
  /** `response_format` of type json_schema. */
  readonly jsonSchema: boolean;
  /** `response_format` of type json_object. */
  readonly jsonMode: boolean;
  readonly tools: boolean;
  readonly temperature: boolean;
  /** Efforts refused; others may still be accepted. */
  readonly refusedEfforts: readonly string[];
  /** Under which name the limit of output tokens is accepted. */
  readonly maxTokensName: 'max_tokens' | 'max_completion_tokens' | 'none';
}

/**
 * Before any refusal. `max_tokens` first: older compatible servers ignore the newer name without a word, whereas those that
 * want the newer one say so.
 */
export const UNTRIED: Capabilities = {
  jsonSchema: true,
  jsonMode: true,
  tools: true,
  temperature: true,
  refusedEfforts: [],
  maxTokensName: 'max_tokens',
};

/** Where refusals are remembered. Both methods may reject: their error passes through the call unchanged. */
export interface CapabilityMemory {
  /** What is remembered, as learned; empty when nothing is, or when it is old enough to be tried again. */
  recall(endpoint: string, model: string): Promise<Partial<Capabilities>>;
  /** Later values of a key replace earlier ones. */
  learn(endpoint: string, model: string, change: Partial<Capabilities>): Promise<void>;
}

/** Remembers as long as the process lives. */
export function inMemoryCapabilities(): CapabilityMemory {
  const known = new Map<string, Partial<Capabilities>>();
  const keyOf = (endpoint: string, model: string): string => JSON.stringify([endpoint, model]);
  return {
    recall: (endpoint, model) => Promise.resolve(known.get(keyOf(endpoint, model)) ?? {}),
    learn: (endpoint, model, change) => {
      const key = keyOf(endpoint, model);
      known.set(key, { ...known.get(key), ...change });
      return Promise.resolve();
    },
  };
}
