import type { Trace } from '#contracts';
import { describe, notApplicable, plain, quote, scored, type CheckContext, type Fault, type Outcome } from './outcome.js';
import { callIdentity } from './repetition.js';
import { toolCalls, type ToolCall } from './tool-calls.js';

/**
 * 1 - faulty calls / judged calls. A call is faulty when it failed, named a tool absent from the recorded catalogue, or
 * repeated an identical earlier failing call. A call of which neither the outcome nor the catalogue is known is not judged.
 * An empty catalogue is an absent one: hosts that record none often send `[]`. Where a call is doubtful, a value without any fault
 * could only be too high: then there is none, and beside faults the call is not judged.
 */
export function toolCorrectness(trace: Trace, { turn }: CheckContext): Outcome {
  const calls = toolCalls(trace);
  if (calls.length === 0) return notApplicable('no_tool_calls', 'No tool was called.');
  const catalogue = new Set((turn.tools ?? []).map((tool) => tool.name));
  const known = catalogue.size > 0 ? calls : calls.filter((call) => call.outcomeKnown);
  if (known.length === 0)
    return notApplicable('outcome_unknown', 'No tool call recorded an outcome, and no tool catalogue was recorded.');
  const faults = faultsOf(known, catalogue);
  const doubtful = doubtfulOf(known, faults);
  const [first] = doubtful;
  if (faults.length === 0 && first !== undefined)
    return notApplicable(
      'outcome_unknown',
      `${doubtful.length} of ${known.length} tool calls answered with what reads like a failure, and no status says whether it was: ${quote(first.tool)} (span ${plain(first.spanId)}).`,
    );
  const judged = known.filter((call) => !doubtful.includes(call));
  const reason =
    faults.length === 0
      ? `All ${judged.length} tool calls were in order.`
      : `${faults.length} of ${judged.length} tool calls at fault: ${describe(faults)}.`;
  const code = faults[0]?.code ?? 'ok';
  return scored(
    1 - faults.length / judged.length,
    code,
    reason,
    faults.map((fault) => fault.spanId),
  );
}

/** Those of which nothing is known to be wrong, and not that all went well. */
function doubtfulOf(calls: readonly ToolCall[], faults: readonly Fault[]): ToolCall[] {
  const faulty = new Set(faults.map(({ spanId }) => spanId));
  return calls.filter((call) => call.doubtful && !faulty.has(call.spanId));
}

function faultsOf(calls: readonly ToolCall[], catalogue: ReadonlySet<string>): Fault[] {
  const failedBefore = new Set<string>();
  const faults: Fault[] = [];
  for (const call of calls) {
    const fault = faultOf(call, catalogue, failedBefore);
    if (fault !== undefined) faults.push({ spanId: call.spanId, label: call.tool, ...fault });
  }
  return faults;
}

/** `failedBefore` is filled on the way: only a call that comes later repeats an earlier failure. */
function faultOf(
  call: ToolCall,
  catalogue: ReadonlySet<string>,
  failedBefore: Set<string>,
): Pick<Fault, 'code' | 'why'> | undefined {
  // Canonical arguments cost time; only a trace with a failing call needs them.
  const key = call.failed || failedBefore.size > 0 ? callIdentity(call) : undefined;
  const repeated = key !== undefined && failedBefore.has(key);
  if (call.failed && key !== undefined) failedBefore.add(key);
  if (catalogue.size > 0 && !catalogue.has(call.tool)) return { code: 'unknown_tool', why: 'is not in the tool catalogue' };
  if (repeated) return { code: 'repeated_failure', why: 'repeated an identical call that had failed' };
  return call.failed ? { code: 'failed_call', why: 'failed' } : undefined;
}
