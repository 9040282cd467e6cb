import type { Score, Trace } from '#contracts';
import { argumentCorrectness } from './argument-correctness.js';
import { coherence } from './coherence.js';
import { loopDetection } from './loop-detection.js';
import { notApplicable, toScore, type Check, type CheckContext } from './outcome.js';
import { stepEfficiency } from './step-efficiency.js';
import { taskCompletion } from './task-completion.js';
import { toolCorrectness } from './tool-correctness.js';

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['task_completion', taskCompletion],
  ['coherence', coherence],
  ['tool_correctness', toolCorrectness],
  ['argument_correctness', argumentCorrectness],
  ['step_efficiency', stepEfficiency],
  ['loop_detection', loopDetection],
]);

/** The metrics that have a check. */
export const checkedMetrics: readonly string[] = [...checks.keys()];

export function hasCheck(metric: string): boolean {
  return checks.has(metric);
}

/**
 * The score of one trace by a deterministic check: `scored` with a value in [0, 1], or `not_applicable` with the reason.
 * A metric without a check is `not_applicable`, code `no_model`. Never throws for a trace of the contract's shape.
 */
export function runCheck(metric: string, trace: Trace, context: CheckContext): Score {
  const check = checks.get(metric);
  const outcome =
    check === undefined ? notApplicable('no_model', 'This metric needs a model, and none is configured.') : check(trace, context);
  return toScore(metric, trace.trace_id, outcome);
}
