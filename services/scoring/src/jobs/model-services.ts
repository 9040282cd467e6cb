import type { ProcessSettings } from '#contracts';
import { LOCAL_MODEL, localEmbedder, type Embedder, type LocalEmbedder } from '#embeddings';
import { ModelEndpoint, pricesFromSettings, priceTable, type CapabilityMemory, type PriceTable } from '#llm';

/** The models that a scoring process asks: one endpoint for judges, one for embeddings, which may be the same, and the local model. */
export class ModelServices {
  readonly judges: ModelEndpoint;
  readonly prices: PriceTable;
  private readonly embeddings: ModelEndpoint;
  private local: LocalEmbedder | undefined;

  constructor(settings: ProcessSettings, capabilities: CapabilityMemory) {
    this.prices = priceTable(pricesFromSettings(settings.model_prices));
    const tools = { capabilities, prices: this.prices };
    const common = { timeoutMs: settings.judge_timeout_s * 1000, concurrency: settings.max_concurrent_evals };
    this.judges = new ModelEndpoint(
      { ...common, baseUrl: settings.judge_base_url, apiKey: settings.judge_api_key, headers: settings.judge_headers },
      tools,
    );
    this.embeddings =
      settings.embedding_base_url === undefined
        ? this.judges
        : new ModelEndpoint({ ...common, baseUrl: settings.embedding_base_url, apiKey: settings.embedding_api_key }, tools);
  }

  embedder(model: string): Embedder {
    if (model === LOCAL_MODEL) return (this.local ??= localEmbedder());
    return {
      model,
      embed: (texts, signal) => this.embeddings.embed({ model, inputs: texts, signal }),
    };
  }

  async close(): Promise<void> {
    await this.local?.close();
  }
}
