import type { Dialect, SpanFields } from '../dialect.js';
import { SpanView } from '../span-view.js';
import type { AttributeValue, OtlpSpan } from '../span.js';

/** A span of these attributes, for tests. */
export function spanOf(
  attributes: Readonly<Record<string, AttributeValue>>,
  more: Partial<OtlpSpan> & { scopeName?: string } = {},
): OtlpSpan {
  const { scopeName = '', ...rest } = more;
  return {
    traceId: '1'.repeat(32),
    spanId: '2'.repeat(16),
    parentSpanId: null,
    name: 'a span',
    start: 1n,
    end: 2n,
    attributes: new Map(Object.entries(attributes)),
    events: [],
    status: { code: 'UNSET', message: '' },
    resource: new Map(),
    scope: { name: scopeName, version: '', attributes: new Map() },
    notes: [],
    ...rest,
  };
}

/** What one dialect alone says of a span; undefined when it is none of its own. */
export function readBy(dialect: Dialect, span: OtlpSpan): Partial<Record<keyof SpanFields, unknown>> | undefined {
  const view = new SpanView(span);
  if (!dialect.speaks(view)) return undefined;
  const said = Object.entries(dialect.fields).map(([field, readers]) => [
    field,
    readers.map((reader) => reader(view)).find((value) => value !== undefined),
  ]);
  return Object.fromEntries(said.filter(([, value]) => value !== undefined)) as Partial<Record<keyof SpanFields, unknown>>;
}
