import { builtInMetrics, metricNames, OUTCOME_METRIC, type KnownMetric, type ProjectSettings } from '#contracts';
import { canFire, gateConfig, gateSettings, metricsOfTier, thresholdOf, type GateConfig } from '#domain/gate';
import { scoringPlan, sourceOf, waitingPlace, type MetricEvaluator } from '#domain/scoring';

/** Every metric that a project with these settings knows. `blocked`: why a provider is asked nothing just now. */
export function knownMetricsOf(settings: ProjectSettings, blocked: (provider: string) => string | null): KnownMetric[] {
  const config = gateConfig(settings);
  const scored = [...metricNames.filter((metric) => metric !== OUTCOME_METRIC), ...Object.keys(settings.metrics)];
  // A metric that no tier names is resolved too: whoever adds it to one will want to know.
  const { evaluators } = scoringPlan(
    { ...settings, tier1_metrics: scored },
    { hasCheck: has('check'), hasJudge: has('judge'), checkVersion: '', promptHash: () => '' },
  );
  return [
    outcome(settings, config),
    ...scored.flatMap((metric) => {
      const evaluator = evaluators[metric];
      return evaluator === undefined ? [] : [known(metric, evaluator, { settings, config, blocked })];
    }),
  ];
}

const has =
  (kind: 'check' | 'judge') =>
  (metric: string): boolean =>
    ((builtInMetrics as Readonly<Record<string, readonly string[]>>)[metric] ?? []).includes(kind);

/** It has no tier of the ladder: it is read whenever a verifier answers. */
function outcome({ accept_host_outcome: accepted }: ProjectSettings, config: GateConfig): KnownMetric {
  return {
    ...{ metric: OUTCOME_METRIC, registered: false, tiers: [0], evaluator: 'verifier', host_first: false, source: 'verifier' },
    ...{ model: null, threshold: thresholdOf(config, OUTCOME_METRIC), breaches: true, gate: null, measured: true },
    note: `when a verifier answers or the value is posted${accepted ? ', else the word of the agent itself' : ''}`,
  };
}

interface Context {
  readonly settings: ProjectSettings;
  readonly config: GateConfig;
  readonly blocked: (provider: string) => string | null;
}

function known(metric: string, evaluator: MetricEvaluator, context: Context): KnownMetric {
  const { settings, config } = context;
  const tiers = ([1, 2, 3] as const).filter((tier) => config.tiers[tier].includes(metric));
  const source = evaluator.kind === 'none' ? null : sourceOf(metric, evaluator.kind);
  const missing = whyNot(metric, evaluator, context);
  return {
    ...{ metric, registered: Object.hasOwn(settings.metrics, metric), tiers },
    evaluator: evaluator.kind === 'none' ? null : evaluator.kind,
    host_first: evaluator.hostFirst,
    source,
    model: 'model' in evaluator ? evaluator.model : null,
    threshold: thresholdOf(config, metric),
    breaches: tiers.includes(2),
    gate:
      source !== null && tiers.includes(1)
        ? { ...gateSettings(config, metric, source), may_fire: canFire(config, metric, source) }
        : null,
    measured: missing === null,
    note: missing ?? dependsOn(evaluator),
  };
}

function whyNot(metric: string, evaluator: MetricEvaluator, { config, blocked }: Context): string | null {
  const named = ([1, 2, 3] as const).some((tier) => config.tiers[tier].includes(metric));
  if (!named) return 'no tier names it: add it to tier1_metrics, tier2_metrics or tier3_metrics';
  const missing = evaluatorMissing(evaluator);
  if (missing !== null) return missing;
  if (!([1, 2, 3] as const).some((tier) => metricsOfTier(config, tier).includes(metric)))
    return 'tier 3 is off: set enable_tier3';
  const place = waitingPlace(metric, evaluator);
  return place === null ? null : blocked(place.provider);
}

function evaluatorMissing(evaluator: MetricEvaluator): string | null {
  if (evaluator.kind === 'none') return 'it has no check: set judge_model, or let the host send it';
  if (evaluator.kind === 'judge' && evaluator.model === null) return 'judge_model is not set';
  if (evaluator.kind === 'embedding' && evaluator.model === null) return 'embedding_model is not set';
  return null;
}

function dependsOn({ kind }: MetricEvaluator): string | null {
  if (kind === 'host') return 'when the host sends it';
  return kind === 'responder' ? 'when its responder is connected' : null;
}
