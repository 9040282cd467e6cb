import { coherenceTexts, embeddingCoherence } from '#domain/checks';
import { EmbeddingError, LOCAL_MODEL, type Embedder, type Embeddings } from '#embeddings';
import { ModelError, type PriceTable } from '#llm';
import type { StageMemory } from '#judges';
import type { LoadedJob, Wanted } from '../postgres/job-store.js';
import { keepRecent } from '../keep-recent.js';
import { evaluatorOf } from '../score-tier.js';
import { modelTrouble, requirePrice, spentOf, type MaySpend } from './judge-evaluator.js';
import { Trouble } from './trouble.js';
import type { ValueEvaluator, Verdict } from './value-task.js';

/** Characters of a text that are embedded: what an answer is about is said by then. */
const TEXT_MAX = 8_000;
/** A model with a smaller window is asked with halves, down to this: 512 tokens hold so much in any script. */
const TEXT_MIN = 500;
/** Models whose window is remembered. */
const WINDOWS_MAX = 100;
const BUSY_MS = 2_000;

/** Coherence by meaning: the cosine of request and answer (BEHAVIOUR 1.1, docs/coherence.md). */
export class EmbeddingEvaluator implements ValueEvaluator {
  /** Characters that a model has taken, where it took fewer than the most. */
  private readonly windows = new Map<string, number>();

  constructor(
    private readonly embedderOf: (model: string) => Embedder,
    private readonly prices: PriceTable,
    private readonly hasCostLimit: MaySpend,
  ) {}

  async evaluate(job: LoadedJob, wanted: Wanted, { signal }: { stages: StageMemory; signal: AbortSignal }): Promise<Verdict> {
    const { config, turn } = job;
    const evaluator = evaluatorOf(wanted.metric, config);
    const model = evaluator.kind === 'embedding' ? evaluator.model : null;
    const trace = (turn.traces ?? []).find(({ trace_id: id }) => id === wanted.trace);
    if (model === null || trace === undefined) throw new Error(`nothing to embed: ${wanted.metric} of trace "${wanted.trace}"`);
    const version = { evaluator: `embedding/${model}`, promptHash: null, asked: true };
    const texts = coherenceTexts(trace, turn);
    if ('missing' in texts) {
      const outcome = { status: 'not_applicable', value: null, code: texts.missing, reason: texts.reason, spans: [] } as const;
      return { ...version, outcome, spent: null, asked: false };
    }
    if (model !== LOCAL_MODEL) await requirePrice(model, job, this.prices, this.hasCostLimit);
    try {
      const { vectors, usage } = await this.embed(model, [texts.request, texts.answer], signal);
      const value = embeddingCoherence(vectors[0] ?? [], vectors[1] ?? []);
      const reason = `The similarity in meaning of request and answer is ${value.toFixed(2)} on the scale of ${model}.`;
      return { ...version, outcome: { status: 'scored', value, code: 'ok', reason, spans: [] }, spent: spentOf(model, usage) };
    } catch (error) {
      const trouble = troubleOf(error, model, signal);
      if (!(trouble instanceof ModelError)) throw trouble;
      // What is the matter with these texts will be the matter with them tomorrow.
      const outcome = { status: 'failed', value: null, code: trouble.kind, reason: trouble.message, spans: [] } as const;
      return { ...version, outcome, spent: spentOf(model, trouble.usage) };
    }
  }

  /** With as much of the texts as the model takes. */
  private async embed(model: string, texts: readonly string[], signal: AbortSignal): Promise<Embeddings> {
    const longest = Math.max(...texts.map((text) => text.length));
    for (let most = Math.min(longest, this.windows.get(model) ?? TEXT_MAX); ; most = shorter(most)) {
      const inputs = texts.map((text) => text.slice(0, most));
      try {
        return await this.embedderOf(model).embed(inputs, signal);
      } catch (error) {
        if (!(error instanceof ModelError) || error.kind !== 'context_length' || most <= TEXT_MIN) throw error;
        keepRecent(this.windows, model, shorter(most), WINDOWS_MAX);
      }
    }
  }
}

function shorter(most: number): number {
  return Math.max(TEXT_MIN, Math.floor(most / 2));
}

function troubleOf(error: unknown, model: string, signal: AbortSignal): unknown {
  if (signal.aborted) return new Trouble({ kind: 'returned' }, null, { cause: error });
  if (!(error instanceof EmbeddingError)) return modelTrouble(error, model);
  if (error.kind === 'busy')
    return new Trouble({ kind: 'rest', code: 'busy', error: error.message, delayMs: BUSY_MS }, null, { cause: error });
  return error;
}
