/** The metrics that a model can judge without a project registering anything (BEHAVIOUR 1.2). */
export const judgedMetrics = [
  'task_completion',
  'tool_correctness',
  'argument_correctness',
  'step_efficiency',
  'plan_adherence',
  'plan_quality',
  'confidence',
] as const;
export type JudgedMetric = (typeof judgedMetrics)[number];
