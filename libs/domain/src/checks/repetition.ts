import { argumentsKey } from './arguments.js';
import type { ToolCall } from './tool-calls.js';

/** Tool name and canonical arguments as one text; undefined when the arguments were not recorded. */
export function callIdentity(call: ToolCall): string | undefined {
  const key = argumentsKey(call.input);
  return key === undefined ? undefined : `${JSON.stringify(call.tool)}${key}`;
}

/** Calls with the same tool name and the same canonical arguments, in order; calls without recorded arguments are in none. */
export function identicalCalls(calls: readonly ToolCall[]): ToolCall[][] {
  const groups = new Map<string, ToolCall[]>();
  for (const call of calls) {
    const identity = callIdentity(call);
    if (identity === undefined) continue;
    const group = groups.get(identity);
    if (group === undefined) groups.set(identity, [call]);
    else group.push(call);
  }
  return [...groups.values()];
}
