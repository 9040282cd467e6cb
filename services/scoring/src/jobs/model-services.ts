import type { ProcessSettings } from '#contracts';
import { LOCAL_MODEL, localEmbedder, type Embedder, type LocalEmbedder } from '#embeddings';
import { ModelEndpoint, pricesFromSettings, priceTable, type CapabilityMemory, type PriceTable } from '#llm';

/** The models that a scoring process asks: an endpoint for judges, one for embeddings, and the local model. */
export class ModelServices {
  readonly judges: ModelEndpoint;
  readonly prices: PriceTable;
  private readonly embeddings: ModelEndpoint;
  private local: LocalEmbedder | undefined;

  constructor(settings: ProcessSettings, capabilities: CapabilityMemory) {
    this.prices = priceTable(pricesFromSettings(settings.model_prices));
    const tools = { capabilities, prices: this.prices };
    const common = { timeoutMs: settings.judge_timeout_s * 1000, concurrency: settings.max_concurrent_evals };
    const { judge_base_url, judge_api_key, judge_headers, embedding_base_url, embedding_api_key, embedding_headers } = settings;
    const ofJudges = { baseUrl: judge_base_url, apiKey: judge_api_key, headers: judge_headers };
    this.judges = new ModelEndpoint({ ...common, ...ofJudges }, tools);
    const ofEmbeddings =
      embedding_base_url === undefined
        ? ofJudges
        : { baseUrl: embedding_base_url, apiKey: embedding_api_key, headers: embedding_headers };
    // Its own object also where the address is that of judges: they are not to wait for each other's requests.
    this.embeddings = new ModelEndpoint({ ...common, ...ofEmbeddings }, tools);
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
