import type { Tool, Trace } from '#contracts';
import { forValidation, readArguments } from './arguments.js';
import { describe, notApplicable, plain, scored, type CheckContext, type Fault, type Outcome } from './outcome.js';
import { toolCalls, type ToolCall } from './tool-calls.js';
import { validatorOf } from './validator-cache.js';

type Judgement =
  | { readonly kind: 'right' | 'unjudged' }
  | { readonly kind: 'wrong'; readonly code: 'invalid_json' | 'schema_violation'; readonly why: string };

interface Schemas {
  readonly of: ReadonlyMap<string, Record<string, unknown>>;
  /** Tools whose schema cannot be used, with the reason; filled as they are called. */
  readonly unusable: Map<string, string>;
}

/**
 * Calls whose arguments are valid JSON and satisfy their tool's schema / calls that have a schema or arguments to judge.
 * Each span is judged by itself. Arguments that were not recorded, and those too large to validate, are not judged.
 */
export function argumentCorrectness(trace: Trace, { turn }: CheckContext): Outcome {
  const calls = toolCalls(trace);
  if (calls.length === 0) return notApplicable('no_tool_calls', 'No tool was called.');
  const schemas: Schemas = { of: schemasByTool(turn.tools ?? []), unusable: new Map() };
  const faults: Fault[] = [];
  let judged = 0;
  for (const call of calls) {
    const judgement = judge(call, schemas);
    if (judgement.kind !== 'unjudged') judged += 1;
    if (judgement.kind === 'wrong')
      faults.push({ spanId: call.spanId, label: call.tool, why: judgement.why, code: judgement.code });
  }
  const note = noteOn(schemas.unusable);
  if (judged === 0) return notApplicable('arguments_not_judged', `No tool call had arguments to judge${note}.`);
  const spans = faults.map((fault) => fault.spanId);
  const reason =
    faults.length === 0
      ? `The arguments of all ${judged} judged tool calls are in order${note}.`
      : `${faults.length} of ${judged} tool calls have wrong arguments${note}: ${describe(faults)}.`;
  return scored(1 - faults.length / judged, faults[0]?.code ?? 'ok', reason, spans);
}

/** The first entry of a name counts. */
function schemasByTool(tools: readonly Tool[]): Map<string, Record<string, unknown>> {
  const schemas = new Map<string, Record<string, unknown>>();
  for (const { name, parameters } of tools) {
    if (parameters !== undefined && parameters !== null && !schemas.has(name)) schemas.set(name, parameters);
  }
  return schemas;
}

function judge(call: ToolCall, schemas: Schemas): Judgement {
  const read = readArguments(call.input);
  if (read.state === 'invalid') return { kind: 'wrong', code: 'invalid_json', why: read.why };
  if (read.state !== 'value') return { kind: 'unjudged' };
  return judgeValue(call.tool, read, schemas);
}

function judgeValue(tool: string, read: { value: unknown; empty: boolean }, schemas: Schemas): Judgement {
  const schema = schemas.of.get(tool);
  const validator = schema === undefined ? undefined : validatorOf(schema);
  if (validator?.kind === 'unusable') schemas.unusable.set(tool, validator.why);
  if (validator?.kind !== 'usable') return { kind: read.empty ? 'unjudged' : 'right' };
  const value = forValidation(read.value);
  const verdict = value === undefined ? undefined : validator.check(value.value);
  if (verdict === undefined || verdict.kind === 'unjudged') return { kind: 'unjudged' };
  return verdict.kind === 'valid'
    ? { kind: 'right' }
    : { kind: 'wrong', code: 'schema_violation', why: `breaks its schema: ${verdict.why}` };
}

function noteOn(unusable: ReadonlyMap<string, string>): string {
  const [first] = [...unusable.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
  return first === undefined ? '' : ` (schema of ${plain(first[0])} not used: ${first[1]})`;
}
