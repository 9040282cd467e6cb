import { canonicalJson } from '#domain/text';
import { ModelError } from '#llm';
import { judgedMetrics, type JudgedMetric } from './judged-metrics.js';
import { Judgement, JudgementError } from './judgement.js';
import type { Metric, NotApplicable, Verdict } from './metric.js';
import { argumentCorrectness } from './metrics/argument-correctness.js';
import { confidence } from './metrics/confidence.js';
import { planAdherence, planQuality } from './metrics/plans.js';
import { stepEfficiency } from './metrics/step-efficiency.js';
import { taskCompletion } from './metrics/task-completion.js';
import { toolCorrectness } from './metrics/tool-correctness.js';
import type { OwnJudge } from './own/own-judge.js';
import { ownMetric } from './own/own-metric.js';
import { hashOf } from './prompts/prompt.js';
import { tidy } from './reason.js';
import { medianVerdict } from './samples.js';
import type { JudgeModel, JudgeOutcome, JudgeTask } from './task.js';

const metrics: Record<JudgedMetric, Metric> = {
  task_completion: taskCompletion,
  tool_correctness: toolCorrectness,
  argument_correctness: argumentCorrectness,
  step_efficiency: stepEfficiency,
  plan_adherence: planAdherence,
  plan_quality: planQuality,
  confidence,
};

/** The same bound as a check's: a thousand-span trace must not make a thousand-id event. */
const SPANS_MAX = 50;

/**
 * Judges one metric of one trace (BEHAVIOUR 1.2). `failed` means that this trace has no value and will have none:
 * `too_large`, `content`, `invalid_output`, `bad_definition`. Every other trouble of the model is
 * thrown as the ModelError that it is, with the usage of the whole judgement, for the caller to ask again or to stop.
 */
export async function judge(task: JudgeTask, model: JudgeModel): Promise<JudgeOutcome> {
  const judgement = new Judgement(task, model);
  try {
    const prepared = await metricFor(task.metric, task.definition).prepare(judgement);
    if (typeof prepared !== 'function') return notApplicable(prepared, judgement);
    return scored(await medianVerdict(prepared, task), judgement);
  } catch (error) {
    if (error instanceof JudgementError) return failed(error, judgement);
    throw error instanceof ModelError ? error.withUsage(judgement.usage) : error;
  }
}

/** The version of a metric: a hash over every prompt and schema it uses, and over the definition of a registered one. */
export function promptHash(metric: string, definition?: OwnJudge): string {
  const own = definition === undefined ? '' : canonicalJson({ prompt: definition.prompt, output: definition.output });
  return hashOf(metricFor(metric, definition).prompts, own);
}

function metricFor(name: string, definition: OwnJudge | undefined): Metric {
  if (definition !== undefined) return ownMetric(name, definition);
  if (Object.hasOwn(metrics, name)) return metrics[name as JudgedMetric];
  throw new RangeError(`No model judges "${name}"; known are ${judgedMetrics.join(', ')}, and what a project registers.`);
}

function scored({ value, reason, spans = [] }: Verdict, { usage }: Judgement): JudgeOutcome {
  const bounded = [...new Set(spans)].slice(0, SPANS_MAX);
  return { status: 'scored', value, reason: tidy(reason), code: null, spans: bounded, usage };
}

function notApplicable({ code, reason }: NotApplicable, { usage }: Judgement): JudgeOutcome {
  return { status: 'not_applicable', value: null, reason, code, spans: [], usage };
}

function failed({ code, message }: JudgementError, { usage }: Judgement): JudgeOutcome {
  return { status: 'failed', value: null, reason: tidy(message), code, spans: [], usage };
}
