import type { Usage } from '#llm';
import { ModelError, tokenCounter, type ModelEndpoint, type ModelErrorKind, type PriceTable } from '#llm';
import { judge, promptHash, type StageMemory } from '#judges';
import { thresholdOf } from '#domain/gate';
import type { MetricEvaluator, ScoringPlan } from '#domain/scoring';
import type { LoadedJob, Wanted } from '../postgres/job-store.js';
import type { Spent } from '../postgres/usage-rows.js';
import { evaluatorOf } from '../score-tier.js';
import { BLOCKED_DELAY_MS, Trouble } from './trouble.js';
import type { ValueEvaluator, Verdict } from './value-task.js';

/** Tokens of a trace that a judge is shown: the largest of 780 recorded traces took 10,843, the mean 568 (docs/judges.md). */
export const DIGEST_TOKENS = 12_000;

/** Whether a model without a price may be asked for this project: never when its spending is limited. */
export type MaySpend = (project: string) => Promise<boolean>;

/** Judges (BEHAVIOUR 1.2) behind one endpoint. */
export class JudgeEvaluator implements ValueEvaluator {
  constructor(
    private readonly endpoint: ModelEndpoint,
    private readonly prices: PriceTable,
    private readonly hasCostLimit: MaySpend,
  ) {}

  async evaluate(job: LoadedJob, wanted: Wanted, tools: { stages: StageMemory; signal: AbortSignal }): Promise<Verdict> {
    const { config, turn } = job;
    const evaluator = evaluatorOf(wanted.metric, config);
    const model = evaluator.kind === 'judge' ? evaluator.model : null;
    const trace = (turn.traces ?? []).find(({ trace_id: id }) => id === wanted.trace);
    if (model === null || trace === undefined) throw new Error(`nothing to judge: ${wanted.metric} of trace "${wanted.trace}"`);
    await requirePrice(model, job, this.prices, this.hasCostLimit);
    const own = ownOf(evaluator);
    const hash = promptHash(wanted.metric, own);
    try {
      const { usage, ...outcome } = await judge(
        {
          ...{ metric: wanted.metric, turn, trace, threshold: thresholdOf(config, wanted.metric) },
          ...(own === undefined ? {} : { definition: own }),
          ...samplesOf(config.scoring, job),
          digestTokens: DIGEST_TOKENS,
          signal: tools.signal,
          // What one model extracted is not another's.
          stages: { once: (stage, make) => tools.stages.once(`${model}/${stage}`, make) },
        },
        { ask: (question) => this.endpoint.structured({ model, ...question }), countTokens: await tokenCounter() },
      );
      const spent = spentOf(model, usage);
      return { outcome, evaluator: `judge/${model}/${hash}`, promptHash: hash, spent, asked: spent !== null };
    } catch (error) {
      throw modelTrouble(error, model);
    }
  }
}

function ownOf(evaluator: MetricEvaluator): { prompt: string; output: NonNullable<OwnOutput> } | undefined {
  if (evaluator.kind !== 'judge' || evaluator.own === undefined) return undefined;
  const { prompt, output } = evaluator.own;
  return { prompt, output };
}
type OwnOutput = NonNullable<Extract<MetricEvaluator, { kind: 'judge' }>['own']>['output'];

/** Only a breach of tier 2 is judged twice more. */
function samplesOf(plan: ScoringPlan | undefined, { job }: LoadedJob): { samples: number; confirmBreach: boolean } {
  return { samples: plan?.judge_samples ?? 1, confirmBreach: job.tier === 2 && (plan?.confirm_breach ?? true) };
}

export async function requirePrice(model: string, { job }: LoadedJob, prices: PriceTable, hasCostLimit: MaySpend): Promise<void> {
  if (prices.price(model) !== null || !(await hasCostLimit(job.project))) return;
  const error = `The project limits its spending (max_cost_usd), and the model ${model} has no price: set model_prices, or take the limit away.`;
  throw new Trouble({ kind: 'blocked', code: 'unpriced', error, delayMs: BLOCKED_DELAY_MS });
}

export function spentOf(model: string, { calls, inputTokens, outputTokens, costUsd, latencyMs }: Usage): Spent | null {
  return calls === 0 ? null : { model, calls, inputTokens, outputTokens, costUsd, latencyMs };
}

const REST_MS = 5_000;

/** What becomes of a job whose model did not answer. What is the matter with this one text, and what is no model's error, is passed on. */
export function modelTrouble(error: unknown, model: string): unknown {
  if (!(error instanceof ModelError)) return error;
  const ending = endingOf(error);
  return ending === null ? error : new Trouble(ending, spentOf(model, error.usage), { cause: error });
}

const OF_PROVIDER: ReadonlySet<string> = new Set(['auth', 'config', 'billing'] satisfies ModelErrorKind[]);
/** A wrong model or parameter gives them too; then no question is answered. */
const OF_QUESTION: ReadonlySet<number> = new Set([400, 422]);
const PASSING: ReadonlySet<string> = new Set(['rate_limit', 'unavailable'] satisfies ModelErrorKind[]);

function endingOf({ kind, message: error, retryAfterMs, status = 0 }: ModelError): Trouble['ending'] | null {
  const ofQuestion = OF_QUESTION.has(status) || status >= 500;
  if (OF_PROVIDER.has(kind)) return { kind: 'blocked', code: kind, error, delayMs: BLOCKED_DELAY_MS, ofQuestion };
  if (PASSING.has(kind)) return { kind: 'rest', code: kind, error, delayMs: retryAfterMs ?? REST_MS, ofQuestion };
  if (kind === 'timeout') return { kind: 'failed', error, delayMs: retryAfterMs ?? REST_MS, late: true };
  return kind === 'cancelled' ? { kind: 'returned' } : null;
}
