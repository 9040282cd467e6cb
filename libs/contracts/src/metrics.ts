/** What can make a built-in metric's value, the default first. `embedding` needs a model too, but not a judge's. */
export const evaluatorKinds = ['check', 'judge', 'embedding', 'host'] as const;
export type EvaluatorKind = (typeof evaluatorKinds)[number];

/** Every built-in metric with the evaluators that it has. */
export const builtInMetrics = {
  outcome_correct: ['host'],
  task_completion: ['check', 'judge', 'host'],
  coherence: ['check', 'embedding', 'host'],
  tool_correctness: ['check', 'judge', 'host'],
  argument_correctness: ['check', 'judge', 'host'],
  plan_adherence: ['judge', 'host'],
  plan_quality: ['judge', 'host'],
  step_efficiency: ['check', 'judge', 'host'],
  confidence: ['judge', 'host'],
  loop_detection: ['check', 'host'],
} as const satisfies Readonly<Record<string, readonly EvaluatorKind[]>>;
export type MetricName = keyof typeof builtInMetrics;

/** Every metric this version knows; a project may register more (`metrics`). A setting that names another one is refused with the list. */
export const metricNames = Object.keys(builtInMetrics) as readonly MetricName[];

export const tiers = [0, 1, 2, 3] as const;
export type Tier = (typeof tiers)[number];

export const conditions = ['breach', 'stall', 'regression'] as const;
export type Condition = (typeof conditions)[number];

/** `condition:metric`, the name of one problem. */
export type Signature = `${Condition}:${string}`;

/** The verifier's metric; its default threshold is stricter than the others'. */
export const OUTCOME_METRIC = 'outcome_correct';
