import { fromJsonText, isRecord, member, type JsonRecord } from '../json-value.js';
import type { AttributeValue, OtlpScope } from '../span.js';
import { attributesOf, attributeValue, members, nanosFrom, textIn } from './export-values.js';
import type { ExportedSpan } from './exported-span.js';

interface TraceExport {
  readonly trace: JsonRecord;
  readonly observations: readonly unknown[];
}

/** Members of an observation's metadata that Langfuse made of the span's own parts. */
const PARTS = new Set(['attributes', 'resourceAttributes', 'scope']);

/** Whether a value is a trace of Langfuse with its observations: `{ trace, observations }`, or as its API answers. */
export function isLangfuseExport(value: unknown): boolean {
  return exportOf(value) !== undefined;
}

/**
 * Such an export as spans: each observation with the attributes that Langfuse kept of the original span and, under the names of Langfuse's
 * SDK, what Langfuse moved out of them. Input and output of the trace stand on its root. Ids stay as they are.
 */
export function langfuseSpans(value: unknown): ExportedSpan[] {
  const found = exportOf(value);
  return found === undefined ? [] : found.observations.map((observation) => toSpan(observation, found.trace));
}

function exportOf(value: unknown): TraceExport | undefined {
  if (!isRecord(value)) return undefined;
  const observations = member(value, 'observations');
  const trace = member(value, 'trace') ?? value;
  if (!Array.isArray(observations) || !isRecord(trace) || textIn(trace, 'id') === undefined) return undefined;
  return { trace, observations: observations as unknown[] };
}

function toSpan(observation: unknown, trace: JsonRecord): ExportedSpan {
  if (!isRecord(observation)) return { rejected: 'not an observation' };
  const spanId = textIn(observation, 'id');
  const traceId = textIn(observation, 'traceId') ?? textIn(trace, 'id');
  if (spanId === undefined || traceId === undefined) return { rejected: 'an observation without id' };
  const metadata = recordOf(observation['metadata']);
  const parentSpanId = textIn(observation, 'parentObservationId') ?? null;
  return {
    span: {
      traceId,
      spanId,
      parentSpanId,
      name: textIn(observation, 'name') ?? '',
      start: nanosFrom(observation['startTime']),
      end: nanosFrom(observation['endTime']),
      attributes: new Map([
        ...members(recordOf(metadata['attributes']), ''),
        ...ofObservation(observation, metadata),
        ...ofTrace(trace, parentSpanId === null),
      ]),
      events: [],
      status: { code: observation['level'] === 'ERROR' ? 'ERROR' : 'UNSET', message: textIn(observation, 'statusMessage') ?? '' },
      resource: attributesOf(recordOf(metadata['resourceAttributes'])),
      scope: scopeOf(metadata['scope']),
      notes: [],
    },
  };
}

function recordOf(value: unknown): JsonRecord {
  const parsed = fromJsonText(value);
  return isRecord(parsed) ? parsed : {};
}

function scopeOf(value: unknown): OtlpScope {
  const scope = recordOf(value);
  const attributes = attributesOf(recordOf(scope['attributes']));
  return { name: textIn(scope, 'name') ?? '', version: textIn(scope, 'version') ?? '', attributes };
}

function* ofObservation(observation: JsonRecord, metadata: JsonRecord): Generator<readonly [string, AttributeValue]> {
  const { type, model, usageDetails, modelParameters, level, statusMessage, input, output } = observation;
  const said = {
    type: typeof type === 'string' ? type.toLowerCase() : undefined,
    'model.name': model,
    usage_details: isFilled(usageDetails) ? usageDetails : undefined,
    'model.parameters': modelParameters,
    level,
    status_message: statusMessage,
    // OpenInference's attributes are kept as they were, and say more: Langfuse copied input and output from them.
    ...(isRecord(metadata['attributes']) && 'openinference.span.kind' in metadata['attributes'] ? {} : { input, output }),
  };
  yield* members(said, 'langfuse.observation.');
  const rest = Object.entries(metadata).filter(([key]) => !PARTS.has(key));
  yield* members(Object.fromEntries(rest), 'langfuse.observation.metadata.');
}

function isFilled(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length > 0;
}

function* ofTrace(trace: JsonRecord, isRoot: boolean): Generator<readonly [string, AttributeValue]> {
  yield* members({ 'session.id': textIn(trace, 'sessionId'), 'trace.name': textIn(trace, 'name') }, 'langfuse.');
  if (!isRoot) return;
  // JSON text of JSON text.
  for (const side of ['input', 'output'] as const) {
    const value = fromJsonText(trace[side]);
    if (value !== undefined && value !== null) yield [`langfuse.trace.${side}`, attributeValue(value)];
  }
}
