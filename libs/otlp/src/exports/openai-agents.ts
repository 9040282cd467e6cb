import { AGENTS_PREFIX } from '../dialects/openai-agents.js';
import { isRecord, member, type JsonRecord } from '../json-value.js';
import type { AttributeValue, OtlpSpan } from '../span.js';
import { attributeValue, members, nanosFrom, textIn } from './export-values.js';
import type { ExportedSpan } from './exported-span.js';

const SCOPE = { name: 'openai-agents', version: '', attributes: new Map() };

/** Whether a value is what the tracing of OpenAI Agents posts: `{ data: [...] }`, the list in it, or one item of the list. */
export function isAgentsExport(value: unknown): boolean {
  const first = itemsOf(value)[0];
  return isRecord(first) && (first['object'] === 'trace' || first['object'] === 'trace.span');
}

/**
 * Such an export as spans. What a trace says (its group, which is the session, its workflow and metadata) is said on each of its spans,
 * whichever came first. Ids stay as they are.
 */
export function agentsSpans(value: unknown): ExportedSpan[] {
  const items = itemsOf(value).filter(isRecord);
  const traces = new Map(items.filter(({ object }) => object === 'trace').map((trace) => [trace['id'], trace]));
  return items.filter(({ object }) => object !== 'trace').map((item) => toSpan(item, traces.get(item['trace_id'])));
}

function itemsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  const data = isRecord(value) ? member(value, 'data') : undefined;
  return Array.isArray(data) ? (data as unknown[]) : [value];
}

function toSpan(item: JsonRecord, trace: JsonRecord | undefined): ExportedSpan {
  const [traceId, spanId] = [textIn(item, 'trace_id'), textIn(item, 'id')];
  if (item['object'] !== 'trace.span') return { rejected: 'neither a trace nor a span of OpenAI Agents' };
  if (traceId === undefined || spanId === undefined) return { rejected: 'a span without trace_id or id' };
  const error = member(item, 'error') ?? undefined;
  return {
    span: {
      traceId,
      spanId,
      parentSpanId: textIn(item, 'parent_id') ?? null,
      name: nameOf(item['span_data']),
      start: nanosFrom(item['started_at']),
      end: nanosFrom(item['ended_at']),
      attributes: new Map(attributesOf(item, trace)),
      events: [],
      status: { code: error === undefined ? 'UNSET' : 'ERROR', message: '' },
      resource: new Map(),
      scope: SCOPE,
      notes: [],
    },
  };
}

/** Some kinds (generation, response) have no name. */
function nameOf(data: unknown): OtlpSpan['name'] {
  return isRecord(data) ? (textIn(data, 'name') ?? textIn(data, 'type') ?? '') : '';
}

function* attributesOf(item: JsonRecord, trace: JsonRecord | undefined): Generator<readonly [string, AttributeValue]> {
  yield* members(item['span_data'], AGENTS_PREFIX);
  if (isRecord(item['error'])) yield [`${AGENTS_PREFIX}error`, attributeValue(item['error'])];
  if (trace === undefined) return;
  const { group_id, workflow_name, metadata } = trace;
  yield* members({ group_id, workflow_name, ...(isRecord(metadata) ? { metadata } : {}) }, AGENTS_PREFIX);
}
