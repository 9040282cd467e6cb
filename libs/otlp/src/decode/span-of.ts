import { isRecord, member, type JsonRecord } from '../json-value.js';
import type { Attributes, OtlpEvent, OtlpScope, OtlpSpan } from '../span.js';
import { attributesOf } from './attributes.js';
import { idOf } from './ids.js';
import { nanosOf } from './nanos.js';

/** Where a span was recorded. */
export interface Place {
  readonly resource: Attributes;
  readonly scope: OtlpScope;
}

type SpanResult = { readonly span: OtlpSpan } | { readonly rejected: string };

/**
 * One span, as parsed from JSON or decoded from protobuf (which have the same names). Rejected only without its ids: everything
 * else can be missing or wrong, and is noted.
 */
export function spanOf(raw: unknown, { resource, scope }: Place): SpanResult {
  if (!isRecord(raw)) return { rejected: 'not a span' };
  const traceId = idOf(member(raw, 'traceId'), 16);
  if (traceId === null) return { rejected: 'traceId is not 16 bytes' };
  const spanId = idOf(member(raw, 'spanId'), 8);
  if (spanId === null) return { rejected: 'spanId is not 8 bytes' };
  const notes = new Set<string>();
  const note = (text: string | undefined): void => {
    if (text !== undefined) notes.add(text);
  };
  const start = nanosOf(member(raw, 'startTimeUnixNano'), 'startTimeUnixNano');
  const end = nanosOf(member(raw, 'endTimeUnixNano'), 'endTimeUnixNano');
  note(start.note);
  note(end.note);
  return {
    span: {
      traceId,
      spanId,
      ...parentsOf(raw, spanId, note),
      name: textOf(member(raw, 'name')),
      start: start.nanos,
      end: end.nanos,
      attributes: attributesOf(member(raw, 'attributes'), note),
      events: eventsOf(member(raw, 'events'), note),
      status: statusOf(member(raw, 'status')),
      resource,
      scope,
      notes: [...notes],
    },
  };
}

/** Bits of `flags`: whether the sender knows if the parent is remote, and whether it is. */
const KNOWS_REMOTE = 0x100;
const IS_REMOTE = 0x300;
/** SERVER and CONSUMER, as protobuf and JSON have them. */
const ENTRY_KINDS: ReadonlySet<unknown> = new Set([2, 5, '2', '5', 'SPAN_KIND_SERVER', 'SPAN_KIND_CONSUMER']);

function parentsOf(
  raw: JsonRecord,
  self: string,
  note: (text: string) => void,
): Pick<OtlpSpan, 'parentSpanId' | 'remoteParentSpanId' | 'entry'> {
  const parent = parentOf(member(raw, 'parentSpanId'), self, note);
  const flags = Number(member(raw, 'flags') ?? 0);
  if (parent === null) return { parentSpanId: null };
  if ((flags & IS_REMOTE) === IS_REMOTE) return { parentSpanId: null, remoteParentSpanId: parent };
  const isEntry = (flags & KNOWS_REMOTE) === 0 && ENTRY_KINDS.has(member(raw, 'kind'));
  return { parentSpanId: parent, ...(isEntry ? { entry: true } : {}) };
}

function parentOf(value: unknown, self: string, note: (text: string) => void): string | null {
  const parent = idOf(value, 8);
  const isUnset = value === undefined || value === null || value === '' || (value instanceof Uint8Array && value.length === 0);
  const isZero = parent === null && typeof value === 'string' && /^0+$/.test(value);
  if (parent === null && !isUnset && !isZero) note('parentSpanId is not 8 bytes');
  if (parent !== self) return parent;
  note('the span named itself as its parent');
  return null;
}

function eventsOf(list: unknown, note: (text: string | undefined) => void): OtlpEvent[] {
  if (!Array.isArray(list)) return [];
  return (list as unknown[]).filter(isRecord).map((event) => {
    const time = nanosOf(member(event, 'timeUnixNano'), 'timeUnixNano');
    note(time.note);
    return { name: textOf(member(event, 'name')), time: time.nanos, attributes: attributesOf(member(event, 'attributes'), note) };
  });
}

const CODES: ReadonlyMap<unknown, 'OK' | 'ERROR'> = new Map<unknown, 'OK' | 'ERROR'>([
  [1, 'OK'],
  [2, 'ERROR'],
  ['STATUS_CODE_OK', 'OK'],
  ['STATUS_CODE_ERROR', 'ERROR'],
]);

function statusOf(value: unknown): OtlpSpan['status'] {
  if (!isRecord(value)) return { code: 'UNSET', message: '' };
  return { code: CODES.get(member(value, 'code')) ?? 'UNSET', message: textOf(member(value, 'message')) };
}

export function scopeOf(value: unknown, note: (text: string) => void): OtlpScope {
  const scope = isRecord(value) ? value : {};
  return {
    name: textOf(member(scope, 'name')),
    version: textOf(member(scope, 'version')),
    attributes: attributesOf(member(scope, 'attributes'), note),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
