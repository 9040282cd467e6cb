import type { OtlpSpan } from '../span.js';
import { attributesOf } from './attributes.js';
import type { OpenBody, Opened, ScopeEntry } from './open-body.js';
import { readJson } from './json-body.js';
import { readProtobuf } from './protobuf-body.js';
import { scopeOf, spanOf, type Place } from './span-of.js';

export type OtlpContentType = 'json' | 'protobuf';

export interface DecodedTraces {
  /** One pass: a span is made when it is asked for. */
  readonly spans: Iterable<OtlpSpan>;
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
  return { spans: spansOf(body, counter(rejected), counter(warnings)), rejected, warnings };
}

type Count = (reason: string) => void;

function counter(counts: Map<string, number>): Count {
  return (reason) => void counts.set(reason, (counts.get(reason) ?? 0) + 1);
}

function* spansOf(body: OpenBody, reject: Count, warn: Count): Generator<OtlpSpan> {
  for (const { resource, scopes } of whole(body.resources, reject)) {
    const attributes = attributesOf((resource as { readonly attributes?: unknown } | null | undefined)?.attributes, warn);
    for (const { scope, spans } of whole(scopes, reject)) {
      yield* spansIn(spans, { resource: attributes, scope: scopeOf(scope, warn) }, reject, warn);
    }
  }
}

function* spansIn(spans: ScopeEntry['spans'], place: Place, reject: Count, warn: Count): Generator<OtlpSpan> {
  for (const raw of whole(spans, reject)) {
    const result = spanOf(raw, place);
    if ('rejected' in result) reject(result.rejected);
    else {
      for (const note of result.span.notes) warn(note);
      yield result.span;
    }
  }
}

function* whole<T>(items: Iterable<Opened<T>>, reject: Count): Generator<T> {
  for (const item of items) {
    if ('broken' in item) reject(item.broken);
    else yield item.value;
  }
}
