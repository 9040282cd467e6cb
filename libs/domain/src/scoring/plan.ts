import type { EvaluatorKind, OwnMetric, ProjectSettings } from '#contracts';

/**
 * Who makes the values of one metric. `version` names evaluator, model and prompts, and is part of a score's key.
 * `hostFirst`: a value that the host sent is taken instead; false where the project has chosen its evaluator itself.
 */
export type MetricEvaluator = { readonly version: string; readonly hostFirst: boolean } & (
  | { readonly kind: 'check' | 'responder' | 'host' | 'none' }
  | { readonly kind: 'judge'; readonly model: string | null; readonly own?: OwnJudgeMetric }
  | { readonly kind: 'embedding'; readonly model: string | null }
  | { readonly kind: 'webhook'; readonly url: string }
) & { readonly timeoutS?: number };

export type OwnJudgeMetric = Extract<OwnMetric, { kind: 'judge' }>;

/** What of a project's settings decides how its turns are scored. Stored with the turn: a change holds from the next turn on. */
export interface ScoringPlan {
  readonly evaluators: Readonly<Record<string, MetricEvaluator>>;
  readonly judge_samples: number;
  readonly confirm_breach: boolean;
  readonly report_wait_s: number;
  readonly score_retry_h: number;
  readonly accept_host_outcome: boolean;
}

export interface PlanParts {
  /** Metrics that have a check. */
  readonly hasCheck: (metric: string) => boolean;
  /** Metrics that have a judge. */
  readonly hasJudge: (metric: string) => boolean;
  /** Version of the checks. */
  readonly checkVersion: string;
  /** Hash of every prompt that a metric's judge uses. */
  readonly promptHash: (metric: string, own?: OwnJudgeMetric) => string;
}

/** Decides who scores what. Metrics of tiers 1 to 3 and no others. */
export function scoringPlan(settings: ProjectSettings, parts: PlanParts): ScoringPlan {
  const metrics = new Set([...settings.tier1_metrics, ...settings.tier2_metrics, ...settings.tier3_metrics]);
  return {
    evaluators: Object.fromEntries([...metrics].map((metric) => [metric, evaluatorOf(metric, settings, parts)])),
    judge_samples: settings.judge_samples,
    confirm_breach: settings.confirm_breach,
    report_wait_s: settings.report_wait_s,
    score_retry_h: settings.score_retry_h,
    accept_host_outcome: settings.accept_host_outcome,
  };
}

function evaluatorOf(metric: string, settings: ProjectSettings, parts: PlanParts): MetricEvaluator {
  const own = settings.metrics[metric];
  if (own !== undefined) return ownEvaluator(metric, own, settings, parts);
  const chosen = settings.evaluators[metric];
  return builtIn(chosen ?? defaultKind(metric, settings, parts), { metric, settings, parts, hostFirst: chosen === undefined });
}

/** The model where one is set and the metric has a judge, else the check, else nothing: no model is ever picked by default. */
function defaultKind(metric: string, settings: ProjectSettings, parts: PlanParts): EvaluatorKind | 'none' {
  if (metric === 'coherence' && settings.embedding_model !== null) return 'embedding';
  if (settings.judge_model !== null && parts.hasJudge(metric)) return 'judge';
  return parts.hasCheck(metric) ? 'check' : 'none';
}

interface Choice {
  readonly metric: string;
  readonly settings: ProjectSettings;
  readonly parts: PlanParts;
  readonly hostFirst: boolean;
}

function builtIn(kind: EvaluatorKind | 'none', { metric, settings, parts, hostFirst }: Choice): MetricEvaluator {
  switch (kind) {
    case 'judge':
      return judgeOf(settings.judge_model, parts.promptHash(metric), hostFirst);
    case 'embedding':
      return { kind, model: settings.embedding_model, version: `embedding/${settings.embedding_model ?? 'none'}`, hostFirst };
    case 'check':
      return { kind, version: parts.checkVersion, hostFirst };
    case 'host':
      return { kind, version: HOST_VERSION, hostFirst: true };
    case 'none':
      return { kind, version: parts.checkVersion, hostFirst };
    default:
      return kind satisfies never;
  }
}

function ownEvaluator(metric: string, own: OwnMetric, settings: ProjectSettings, parts: PlanParts): MetricEvaluator {
  switch (own.kind) {
    case 'judge':
      return { ...judgeOf(settings.judge_model, parts.promptHash(metric, own), false), own };
    case 'webhook':
      return { kind: 'webhook', url: own.url, timeoutS: own.timeout_s, version: 'webhook/1', hostFirst: false };
    case 'responder':
      return { kind: 'responder', timeoutS: own.timeout_s, version: 'responder/1', hostFirst: false };
    case 'host':
      return { kind: 'host', version: HOST_VERSION, hostFirst: true };
    default:
      return own satisfies never;
  }
}

function judgeOf(model: string | null, hash: string, hostFirst: boolean): Extract<MetricEvaluator, { kind: 'judge' }> {
  return { kind: 'judge', model, version: `judge/${model ?? 'none'}/${hash}`, hostFirst };
}

/** Values that the host sends itself. */
export const HOST_VERSION = 'host/1';

/** The source of a value: gate settings are per metric and source. */
export function sourceOf(metric: string, kind: MetricEvaluator['kind']): string {
  if (kind === 'check' && metric === 'coherence') return 'lexical';
  return kind === 'none' ? 'check' : kind;
}

/** The queue in which values wait for their evaluator: one kind of work must not hold up another. */
export const lanes = ['judge', 'embedding', 'own', 'verifier'] as const;
export type Lane = (typeof lanes)[number];

/** Where a value comes from that cannot be made at once; null for those that can, or never. */
export function waitingPlace(
  metric: string,
  evaluator: MetricEvaluator,
): { readonly lane: Lane; readonly provider: string } | null {
  switch (evaluator.kind) {
    case 'judge':
      return evaluator.model === null ? null : { lane: 'judge', provider: `judge:${evaluator.model}` };
    case 'embedding':
      return evaluator.model === null ? null : { lane: 'embedding', provider: `embedding:${evaluator.model}` };
    case 'webhook':
    case 'responder':
      return { lane: 'own', provider: `${evaluator.kind}:${metric}` };
    case 'check':
    case 'host':
    case 'none':
      return null;
    default:
      return evaluator satisfies never;
  }
}
