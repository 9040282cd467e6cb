import type { OtlpSpan } from '../span.js';
import { attributesOf } from './attributes.js';
import type { OpenBody, Opened, ResourceEntry, ScopeEntry } from './open-body.js';
import { readJson } from './json-body.js';
import { readProtobuf } from './protobuf-body.js';
import { scopeOf, spanOf, type Place } from './span-of.js';

export type OtlpContentType = 'json' | 'protobuf';

export interface DecodedTraces {
  /** One pass: a span is made when it is asked for. */
  readonly spans: Iterable<OtlpSpan>;
  /** The same pass for who shares a thread: also stops, with null, at each span that is rejected. */
  readonly steps: Iterable<OtlpSpan | null>;
  /** How many spans could not be read, by reason. Whole when `spans` has been read to its end. */
  readonly rejected: ReadonlyMap<string, number>;
  /** What was forgiven, by kind, with the number of spans (or resources, scopes). Whole when `spans` has been read. */
  readonly warnings: ReadonlyMap<string, number>;
}

/**
 * The spans of an OTLP/HTTP trace request. What cannot be read costs itself only and is counted.
 * @throws OtlpError when the body as a whole is not such a request; a span is never a reason
 */
export function decodeTraces(bytes: Uint8Array, contentType: OtlpContentType): DecodedTraces {
  const body = contentType === 'json' ? readJson(bytes) : readProtobuf(bytes);
  const rejected = new Map<string, number>();
  const warnings = new Map<string, number>();
  const steps = spansOf(body, counter(rejected), counter(warnings));
  return { spans: withoutNull(steps), steps, rejected, warnings };
}

function* withoutNull(steps: Iterable<OtlpSpan | null>): Generator<OtlpSpan> {
  for (const span of steps) if (span !== null) yield span;
}

type Count = (reason: string) => void;

function counter(counts: Map<string, number>): Count {
  return (reason) => void counts.set(reason, (counts.get(reason) ?? 0) + 1);
}

function* spansOf(body: OpenBody, reject: Count, warn: Count): Generator<OtlpSpan | null> {
  for (const entry of whole(body.resources, reject)) {
    if (entry === null) {
      yield null;
      continue;
    }
    const attributes = attributesOf((entry.resource as { readonly attributes?: unknown } | null | undefined)?.attributes, warn);
    yield* spansUnder(entry.scopes, attributes, reject, warn);
  }
}

function* spansUnder(
  scopes: ResourceEntry['scopes'],
  resource: Place['resource'],
  reject: Count,
  warn: Count,
): Generator<OtlpSpan | null> {
  for (const entry of whole(scopes, reject)) {
    if (entry === null) yield null;
    else yield* spansIn(entry.spans, { resource, scope: scopeOf(entry.scope, warn) }, reject, warn);
  }
}

function* spansIn(spans: ScopeEntry['spans'], place: Place, reject: Count, warn: Count): Generator<OtlpSpan | null> {
  for (const raw of whole(spans, reject)) {
    const result = raw === null ? null : spanOf(raw, place);
    if (result !== null && 'rejected' in result) reject(result.rejected);
    if (result === null || 'rejected' in result) {
      yield null;
      continue;
    }
    for (const note of result.span.notes) warn(note);
    yield result.span;
  }
}

/** Null for each that could not be read. */
function* whole<T>(items: Iterable<Opened<T>>, reject: Count): Generator<T | null> {
  for (const item of items) {
    if ('broken' in item) reject(item.broken);
    yield 'broken' in item ? null : item.value;
  }
}
