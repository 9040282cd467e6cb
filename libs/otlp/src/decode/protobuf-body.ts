import protobuf from 'protobufjs/light.js';
import { member, type JsonRecord } from '../json-value.js';
import { traceMessages } from '../proto/trace-messages.js';
import type { OpenBody, Opened, ResourceEntry, ScopeEntry } from './open-body.js';
import { OtlpError } from './otlp-error.js';

const root = protobuf.Root.fromJSON(traceMessages);
const requestType = root.lookupType('ExportTraceServiceRequest');
const resourceType = root.lookupType('ResourceSpans');
const scopeType = root.lookupType('ScopeSpans');
const spanType = root.lookupType('Span');

/** @throws OtlpError when the outermost message cannot be read (cut off, or not protobuf) */
export function readProtobuf(bytes: Uint8Array): OpenBody {
  const request = decode(requestType, bytes);
  if ('broken' in request) throw new OtlpError(`The body is not an OTLP trace request, or was cut off: ${request.broken}`);
  return { resources: items(member(request.value, 'resourceSpans'), resourceType, openResource) };
}

function openResource(message: JsonRecord): ResourceEntry {
  return { resource: member(message, 'resource'), scopes: items(member(message, 'scopeSpans'), scopeType, openScope) };
}

function openScope(message: JsonRecord): ScopeEntry {
  return { scope: member(message, 'scope'), spans: items(member(message, 'spans'), spanType, (span) => span) };
}

function* items<T>(parts: unknown, type: protobuf.Type, open: (message: JsonRecord) => T): Generator<Opened<T>> {
  for (const part of (parts ?? []) as readonly Uint8Array[]) {
    const decoded = decode(type, part);
    yield 'broken' in decoded ? decoded : { value: open(decoded.value) };
  }
}

/** protobuf.js throws on what it cannot read, and on nesting beyond 100 levels. */
function decode(type: protobuf.Type, bytes: Uint8Array): Opened<JsonRecord> {
  try {
    return { value: type.decode(bytes) as unknown as JsonRecord };
  } catch {
    return { broken: `${type.name} is not readable as protobuf` };
  }
}
