import type { ProcessSettings, ProjectSettings } from '#contracts';
import {
  ModelEndpoint,
  pricesFromSettings,
  priceTable,
  takesReasoningEffort,
  type CapabilityMemory,
  type ChatRequest,
  type PriceTable,
} from '#llm';
import type { ModelHealth } from './model-health.js';

/** Every run has its own time; a request that it has not heard of ends here. */
const REQUEST_TIMEOUT_MS = 3_600_000;
/** Longer rests belong to the episode, which waits without a slot. */
const PATIENCE_MS = 5_000;

/** The endpoint of this process for repair models, and what they cost. */
export class RepairModel {
  readonly endpoint: ModelEndpoint;
  readonly prices: PriceTable;

  constructor(
    settings: ProcessSettings,
    capabilities: CapabilityMemory,
    readonly health: ModelHealth,
  ) {
    const { repair_base_url: baseUrl, repair_api_key: apiKey, repair_headers: headers } = settings;
    this.prices = priceTable(pricesFromSettings(settings.model_prices));
    const bounds = { timeoutMs: REQUEST_TIMEOUT_MS, maxWaitMs: PATIENCE_MS, concurrency: settings.max_concurrent_repairs };
    this.endpoint = new ModelEndpoint({ baseUrl, apiKey, headers, ...bounds }, { capabilities, prices: this.prices });
  }
}

/** What a project's settings say about every request of a run. */
export function requestSettings(
  model: string,
  { repair_temperature: temperature, repair_reasoning_effort: effort }: ProjectSettings,
): Pick<ChatRequest, 'model' | 'temperature' | 'reasoningEffort'> {
  const reasoningEffort = effort !== null && takesReasoningEffort(model) ? effort : undefined;
  return { model, temperature: temperature ?? undefined, reasoningEffort };
}

/** An assignment, what tools have answered so far, and the declarations of the tools. */
const TOKENS_IN_A_TURN = 12_000;

/** The most US dollars that one run usually costs; null for a model without a price. */
export function costOfRun(model: string, settings: ProjectSettings, prices: PriceTable): number | null {
  const price = prices.price(model);
  if (price === null) return null;
  const { repair_max_turns: turns, repair_max_tokens: output } = settings;
  return (turns * TOKENS_IN_A_TURN * price.inputPerMillion + output * price.outputPerMillion) / 1e6;
}
