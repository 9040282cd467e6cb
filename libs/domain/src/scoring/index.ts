export { BLOCKING_CODES, isBlocking } from './blocking-codes.js';
export {
  HOST_VERSION,
  lanes,
  scoringPlan,
  sourceOf,
  waitingPlace,
  type Lane,
  type MetricEvaluator,
  type OwnJudgeMetric,
  type PlanParts,
  type ScoringPlan,
} from './plan.js';
