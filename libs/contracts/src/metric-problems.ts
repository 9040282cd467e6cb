import { builtInMetrics, metricNames, OUTCOME_METRIC, type EvaluatorKind, type MetricName } from './metrics.js';

/** A metric's name is part of subjects, signatures and column values. */
const OWN_METRIC_PATTERN = /^[a-z][a-z0-9_]{0,62}$/;

/** The part of a project's settings that names metrics. */
export interface MetricSettings {
  readonly tier1_metrics: readonly string[];
  readonly tier2_metrics: readonly string[];
  readonly tier3_metrics: readonly string[];
  readonly thresholds: Readonly<Record<string, number>>;
  readonly gate_overrides: Readonly<Record<string, unknown>>;
  readonly evaluators: Readonly<Record<string, EvaluatorKind>>;
  readonly metrics: Readonly<Record<string, unknown>>;
}

interface Problem {
  readonly path: string[];
  readonly message: string;
}

/** What is wrong with the metrics that settings name: only known ones can be measured, and each only by who can measure it. */
export function metricProblems(settings: MetricSettings): Problem[] {
  const known = [...metricNames, ...Object.keys(settings.metrics)];
  const tiers = ['tier1_metrics', 'tier2_metrics', 'tier3_metrics'] as const;
  const named = [
    ...tiers.flatMap((tier) => settings[tier].map((name, at) => ({ path: [tier, String(at)], name }))),
    ...(['thresholds', 'evaluators'] as const).flatMap((map) =>
      Object.keys(settings[map]).map((name) => ({ path: [map, name], name })),
    ),
    ...Object.keys(settings.gate_overrides).map((key) => ({ path: ['gate_overrides', key], name: key.split('@', 1)[0] ?? '' })),
  ];
  const unknown = named
    .filter(({ name }) => !known.includes(name))
    .map(({ path, name }) => ({ path, message: `unknown metric "${name}"; known metrics: ${known.join(', ')}` }));
  const misplaced = tiers.flatMap((tier) =>
    settings[tier].includes(OUTCOME_METRIC)
      ? [
          {
            path: [tier],
            message: `${OUTCOME_METRIC} is the verifier's and needs no tier: it is read whenever a verifier answers`,
          },
        ]
      : [],
  );
  const taken = Object.keys(settings.metrics)
    .filter((name) => Object.hasOwn(builtInMetrics, name))
    .map((name) => ({ path: ['metrics', name], message: `"${name}" is a metric already: choose another name` }));
  const unnamable = Object.keys(settings.metrics)
    // `constructor` is a member of every object: settings that are looked up by it would be found where there are none.
    .filter((name) => !OWN_METRIC_PATTERN.test(name) || name in Object.prototype)
    .map((name) => ({
      path: ['metrics', name],
      message: 'the name of a metric is a-z, 0-9 and _, begins with a letter, 63 at most, and is not "constructor"',
    }));
  return [...unknown, ...misplaced, ...taken, ...unnamable, ...evaluatorProblems(settings)];
}

function evaluatorProblems({ evaluators, metrics }: MetricSettings): Problem[] {
  const own = new Set(Object.keys(metrics));
  const known = Object.entries(evaluators).filter(([name]) => own.has(name) || Object.hasOwn(builtInMetrics, name));
  return known.flatMap(([name, kind]) => {
    const possible: readonly EvaluatorKind[] = Object.hasOwn(builtInMetrics, name) ? builtInMetrics[name as MetricName] : [];
    if (own.has(name)) return [{ path: ['evaluators', name], message: `who makes ${name} is said in metrics.${name}` }];
    if (possible.includes(kind)) return [];
    return [{ path: ['evaluators', name], message: `${name} cannot come from "${kind}"; it can from ${possible.join(', ')}` }];
  });
}
