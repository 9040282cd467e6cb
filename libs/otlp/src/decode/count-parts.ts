import { Reader } from 'protobufjs/minimal.js';
import type { OtlpContentType } from './decode-traces.js';

/**
 * Messages that a body in protobuf may have. Each takes memory and time whatever is in it: a body of 64 MiB may hold 20 million
 * empty ones. The libraries' recorded requests have one in 77 bytes on average, the densest one in 32.
 */
export const MAX_MESSAGES = 2_000_000;
/**
 * Opening brackets and commas that a body in JSON may have: together they bound its objects, lists, members and items. The dearest
 * body with so many, one object of different keys, is parsed in 3.6 s.
 */
export const MAX_MARKS = 4_000_000;
/** Below this a body cannot have too many: a mark takes one byte, a message two. */
const HARMLESS_BYTES = Math.min(MAX_MARKS, 2 * MAX_MESSAGES);

/** Whether a body has more parts than can be worked on. Counts without making any; what is no OTLP is for the decoder to say. */
export function hasTooManyParts(bytes: Uint8Array, contentType: OtlpContentType): boolean {
  if (bytes.length <= HARMLESS_BYTES) return false;
  return contentType === 'json' ? marks(bytes) > MAX_MARKS : messages(bytes) > MAX_MESSAGES;
}

const BRACE = 0x7b;
const BRACKET = 0x5b;
const COMMA = 0x2c;

/** Those inside of strings count too: JSON in a string is parsed as well, and prose has far fewer. */
function marks(body: Uint8Array): number {
  let count = 0;
  for (const byte of body) if (byte === BRACE || byte === BRACKET || byte === COMMA) count += 1;
  return count;
}

type Shape = Readonly<Record<number, () => Shape>>;

/** Which fields of a message are messages themselves, by number, as opentelemetry-proto declares them. */
const value: Shape = { 5: () => ({ 1: () => value }), 6: () => ({ 1: () => keyValue }) };
const keyValue: Shape = { 2: () => value };
const event: Shape = { 3: () => keyValue };
const span: Shape = { 9: () => keyValue, 11: () => event };
const scope: Shape = { 1: () => ({ 3: () => keyValue }), 2: () => span };
const resource: Shape = { 1: () => ({ 1: () => keyValue }), 2: () => scope };
const request: Shape = { 1: () => resource };

const BYTES = 2;
/** The decoder refuses deeper ones. */
const MAX_DEPTH = 100;

function messages(body: Uint8Array): number {
  const reader = Reader.create(body);
  let count = 0;
  const walk = (shape: Shape, end: number, depth: number): void => {
    while (reader.pos < end && count <= MAX_MESSAGES) {
      const tag = reader.uint32();
      if ((tag & 7) !== BYTES) {
        reader.skipType(tag & 7);
        continue;
      }
      const stop = reader.uint32() + reader.pos;
      const inner = shape[tag >>> 3];
      if (inner !== undefined && depth < MAX_DEPTH) {
        count += 1;
        walk(inner(), stop, depth + 1);
      }
      reader.pos = stop;
    }
  };
  try {
    walk(request, body.length, 0);
  } catch {
    // It breaks off here; the decoder will say so, or have read as much.
  }
  return count;
}
