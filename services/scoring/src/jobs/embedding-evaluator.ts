import { coherenceTexts, embeddingCoherence } from '#domain/checks';
import { EmbeddingError, LOCAL_MODEL, type Embedder } from '#embeddings';
import { ModelError, type PriceTable } from '#llm';
import type { StageMemory } from '#judges';
import type { LoadedJob, Wanted } from '../postgres/job-store.js';
import { evaluatorOf } from '../score-tier.js';
import { modelTrouble, requirePrice, spentOf, type MaySpend } from './judge-evaluator.js';
import { Trouble } from './trouble.js';
import type { ValueEvaluator, Verdict } from './value-task.js';

/** Characters of a text that are embedded: well within every model's window, and what an answer is about is said by then. */
const TEXT_MAX = 8_000;
const BUSY_MS = 2_000;

/** Coherence by meaning: the cosine of request and answer (BEHAVIOUR 1.1, docs/coherence.md). */
export class EmbeddingEvaluator implements ValueEvaluator {
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
      const inputs = [texts.request, texts.answer].map((text) => text.slice(0, TEXT_MAX));
      const { vectors, usage } = await this.embedderOf(model).embed(inputs, signal);
      const value = embeddingCoherence(vectors[0] ?? [], vectors[1] ?? []);
      const reason = `The similarity in meaning of request and answer is ${value.toFixed(2)} on the scale of ${model}.`;
      return { ...version, outcome: { status: 'scored', value, code: 'ok', reason, spans: [] }, spent: spentOf(model, usage) };
    } catch (error) {
      const trouble = troubleOf(error, model, job.job.attempts, signal);
      if (!(trouble instanceof ModelError)) throw trouble;
      // What is the matter with these texts will be the matter with them tomorrow.
      const outcome = { status: 'failed', value: null, code: trouble.kind, reason: trouble.message, spans: [] } as const;
      return { ...version, outcome, spent: spentOf(model, trouble.usage) };
    }
  }
}

function troubleOf(error: unknown, model: string, attempts: number, signal: AbortSignal): unknown {
  if (signal.aborted) return new Trouble({ kind: 'returned' }, null, { cause: error });
  if (!(error instanceof EmbeddingError)) return modelTrouble(error, model, attempts);
  if (error.kind === 'busy')
    return new Trouble({ kind: 'rest', code: 'busy', error: error.message, delayMs: BUSY_MS }, null, { cause: error });
  return error;
}
