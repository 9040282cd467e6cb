import { Reader } from 'protobufjs/minimal.js';
import type { OtlpEncoding } from './encoding.js';

/**
 * Objects, lists or messages that a body may have. Each takes memory and time whatever is in it: a body of 64 MiB may hold 20
 * million empty ones. The libraries' recorded requests have one in 77 bytes on average, the densest one in 32.
 */
export const MAX_PARTS = 2_000_000;
/** Below this a body cannot have so many: the smallest takes two bytes. */
const HARMLESS_BYTES = 2 * MAX_PARTS;

/** Whether a body has more parts than can be worked on. Counts without making any; what is no OTLP is for the decoder to say. */
export function hasTooManyParts(encoding: OtlpEncoding, body: Uint8Array): boolean {
  if (body.length <= HARMLESS_BYTES) return false;
  return encoding === 'json' ? openings(body) > MAX_PARTS : messages(body) > MAX_PARTS;
}

const BRACE = 0x7b;
const BRACKET = 0x5b;

/** Those inside of strings count too, which only text made of brackets would notice. */
function openings(body: Uint8Array): number {
  let count = 0;
  for (const byte of body) if (byte === BRACE || byte === BRACKET) count += 1;
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
    while (reader.pos < end && count <= MAX_PARTS) {
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
