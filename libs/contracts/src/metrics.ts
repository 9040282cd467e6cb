/** Every metric this version knows. A setting that names another one is refused with this list. */
export const metricNames = [
  'outcome_correct',
  'task_completion',
  'coherence',
  'tool_correctness',
  'argument_correctness',
  'plan_adherence',
  'plan_quality',
  'step_efficiency',
  'confidence',
  'loop_detection',
] as const;
export type MetricName = (typeof metricNames)[number];

export const tiers = [0, 1, 2, 3] as const;
export type Tier = (typeof tiers)[number];

export const conditions = ['breach', 'stall', 'regression'] as const;
export type Condition = (typeof conditions)[number];

/** `condition:metric`, the name of one problem. */
export type Signature = `${Condition}:${string}`;

/** The verifier's metric; its default threshold is stricter than the others'. */
export const OUTCOME_METRIC = 'outcome_correct';
