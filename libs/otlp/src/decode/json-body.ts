import { JsonSyntaxError, parseJson } from '#ingest';
import { isRecord, member } from '../json-value.js';
import type { OpenBody, Opened, ResourceEntry, ScopeEntry } from './open-body.js';
import { OtlpError } from './otlp-error.js';

/** @throws OtlpError when it is not JSON, or not an object with a list of `resourceSpans` (an absent list is an empty one) */
export function readJson(bytes: Uint8Array): OpenBody {
  const body = parse(bytes);
  if (!isRecord(body)) throw new OtlpError('An OTLP request in JSON is an object with a list "resourceSpans".');
  const list = member(body, 'resourceSpans');
  if (list !== undefined && list !== null && !Array.isArray(list))
    throw new OtlpError('"resourceSpans" of an OTLP request is a list.');
  return { resources: items(list, 'resourceSpans', openResource) };
}

function parse(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes).value;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return parseDeep(bytes) ?? refuse(error);
    throw error;
  }
}

/** `parseJson` refuses deep nesting. It costs one attribute, not the body: JSON.parse takes it, and no walk here goes that deep. */
function parseDeep(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'));
  } catch {
    return undefined;
  }
}

function refuse(cause: JsonSyntaxError): never {
  throw new OtlpError(`The body is not JSON: ${cause.message}`, { cause });
}

/** Each item is let go of when it has been read, so that a large body shrinks while it is worked on. */
function* items<T>(list: unknown, what: string, open: (item: Readonly<Record<string, unknown>>) => T): Generator<Opened<T>> {
  if (list === undefined || list === null) return;
  if (!Array.isArray(list)) {
    yield { broken: `"${what}" is not a list` };
    return;
  }
  const values = list as unknown[];
  for (let at = 0; at < values.length; at += 1) {
    const item = values[at];
    values[at] = undefined;
    yield isRecord(item) ? { value: open(item) } : { broken: `an item of "${what}" is not an object` };
  }
}

function openResource(item: Readonly<Record<string, unknown>>): ResourceEntry {
  return { resource: member(item, 'resource'), scopes: items(member(item, 'scopeSpans'), 'scopeSpans', openScope) };
}

function openScope(item: Readonly<Record<string, unknown>>): ScopeEntry {
  return { scope: member(item, 'scope'), spans: items(member(item, 'spans'), 'spans', (span) => span) };
}
