import { Writer } from 'protobufjs/minimal.js';
import type { OtlpEncoding } from './encoding.js';

/** Field numbers are those of opentelemetry.proto.collector.trace.v1, google.rpc.Status and google.rpc.BadRequest. */
const BYTES = 2;
const tag = (field: number, wireType = 0): number => (field << 3) | wireType;

/**
 * ExportTraceServiceResponse. With nothing rejected and nothing to say it is empty, as the specification demands; with nothing
 * rejected the message is a warning.
 */
export function exportResponse(encoding: OtlpEncoding, rejected: number, message: string): Buffer {
  const whole = rejected === 0 && message === '';
  if (encoding === 'json') {
    // int64 is text in the JSON of protobuf.
    return json(whole ? {} : { partialSuccess: { rejectedSpans: String(rejected), errorMessage: message } });
  }
  if (whole) return Buffer.alloc(0);
  const partial = Writer.create().uint32(tag(1)).int64(rejected).uint32(tag(2, BYTES)).string(message).finish();
  return bytes(Writer.create().uint32(tag(1, BYTES)).bytes(partial));
}

/** google.rpc.Code by HTTP status. Clients do not act on it, but some take 0, which means OK, for success. */
const CODES: Readonly<Record<number, number>> = { 400: 3, 401: 16, 403: 7, 413: 8, 415: 3, 429: 8, 503: 14 };
const INTERNAL = 13;
const BAD_REQUEST = 'type.googleapis.com/google.rpc.BadRequest';

/** google.rpc.Status, the body of every error; of a 400 with what is wrong with the body, as the specification asks. */
export function statusMessage(encoding: OtlpEncoding, status: number, message: string): Buffer {
  const code = CODES[status] ?? INTERNAL;
  const bad = status === 400;
  if (encoding === 'json') {
    const violation = { '@type': BAD_REQUEST, fieldViolations: [{ field: 'body', description: message }] };
    return json({ code, message, ...(bad ? { details: [violation] } : {}) });
  }
  const writer = Writer.create().uint32(tag(1)).int32(code).uint32(tag(2, BYTES)).string(message);
  if (bad) writer.uint32(tag(3, BYTES)).bytes(badRequest(message));
  return bytes(writer);
}

/** As google.protobuf.Any. */
function badRequest(description: string): Uint8Array {
  const violation = Writer.create().uint32(tag(1, BYTES)).string('body').uint32(tag(2, BYTES)).string(description).finish();
  const value = Writer.create().uint32(tag(1, BYTES)).bytes(violation).finish();
  return Writer.create().uint32(tag(1, BYTES)).string(BAD_REQUEST).uint32(tag(2, BYTES)).bytes(value).finish();
}

const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));
const bytes = (writer: Writer): Buffer => Buffer.from(writer.finish());
