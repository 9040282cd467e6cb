import type { Trace } from '#contracts';
import { describe, notApplicable, scored, type Fault, type Outcome } from './outcome.js';
import { identicalCalls } from './repetition.js';
import { toolCalls } from './tool-calls.js';

/**
 * 1 - wasted steps / steps. A step is a tool call with recorded arguments; it is wasted when an identical call came
 * before it, whether that one succeeded (a duplicate) or failed (a retry without a change).
 */
export function stepEfficiency(trace: Trace): Outcome {
  const calls = toolCalls(trace);
  if (calls.length === 0) return notApplicable('no_tool_calls', 'No tool was called, so there are no steps to count.');
  const groups = identicalCalls(calls);
  const steps = groups.reduce((sum, group) => sum + group.length, 0);
  if (steps === 0)
    return notApplicable('arguments_not_recorded', 'No tool call recorded its arguments, so repeats cannot be told.');
  const wasted = new Map<string, Fault>();
  for (const [first, ...repeats] of groups) {
    let previous = first;
    for (const call of repeats) {
      const retry = previous?.failed === true;
      const why = retry ? 'retried a failed call unchanged' : 'repeated an identical call';
      wasted.set(call.spanId, { spanId: call.spanId, label: call.tool, why, code: retry ? 'unchanged_retry' : 'duplicate_call' });
      previous = call;
    }
  }
  const faults = calls.flatMap((call) => wasted.get(call.spanId) ?? []);
  if (faults.length === 0) return scored(1, 'ok', `None of ${steps} tool calls repeated an earlier one.`);
  const spans = faults.map((fault) => fault.spanId);
  return scored(
    1 - faults.length / steps,
    faults[0]?.code ?? 'ok',
    `${faults.length} of ${steps} tool calls wasted: ${describe(faults)}.`,
    spans,
  );
}
