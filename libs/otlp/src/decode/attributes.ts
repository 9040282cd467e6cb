import { isRecord, member, type JsonRecord } from '../json-value.js';
import type { Attributes, AttributeValue } from '../span.js';
import { bitsOf, isLong } from './nanos.js';

/** Deeper values are cut off: nobody reads them, and what comes after must be able to walk the rest. */
const DEPTH_MAX = 64;
const INTEGER = /^[+-]?\d{1,20}$/;

const NO_ATTRIBUTES: Attributes = new Map();

/**
 * A list of keys and values as a map. An entry without a key or without a value is no attribute; of two with the same key the
 * last one counts. A value that says no value (null, NaN, Infinity: what an SDK makes of an unknown number) is null, with a
 * warning.
 */
export function attributesOf(list: unknown, warn: (warning: string) => void): Attributes {
  if (!Array.isArray(list) || list.length === 0) return NO_ATTRIBUTES;
  const attributes = new Map<string, AttributeValue>();
  for (const entry of list as unknown[]) {
    const key = isRecord(entry) ? member(entry, 'key') : undefined;
    const value = isRecord(entry) ? valueOf(member(entry, 'value'), warn, 0) : undefined;
    if (typeof key === 'string' && key !== '' && value !== undefined) attributes.set(key, value);
  }
  return attributes;
}

/** Undefined when nothing is said. */
function valueOf(value: unknown, warn: (warning: string) => void, depth: number): AttributeValue | undefined {
  if (!isRecord(value)) return undefined;
  for (const [kind, read] of READERS) {
    if (!Object.hasOwn(value, kind)) continue;
    const found = depth > DEPTH_MAX ? undefined : read(value[kind], warn, depth);
    if (found === undefined)
      warn(depth > DEPTH_MAX ? 'a value nested too deeply became null' : 'a value that says none became null');
    return found ?? null;
  }
  return undefined;
}

type Read = (value: unknown, warn: (warning: string) => void, depth: number) => AttributeValue | undefined;

/** The most frequent first. */
const READERS: readonly (readonly [kind: string, read: Read])[] = [
  ['stringValue', (value) => (typeof value === 'string' ? value : undefined)],
  ['intValue', integer],
  ['boolValue', (value) => (typeof value === 'boolean' ? value : undefined)],
  ['doubleValue', double],
  ['arrayValue', (value, warn, depth) => listOf(value)?.map((item) => valueOf(item, warn, depth + 1) ?? null)],
  ['kvlistValue', (value, warn, depth) => objectOf(listOf(value), warn, depth)],
  ['bytesValue', bytes],
];

/** Text, number or 64-bit number; a bigint only where a number would lose digits. */
function integer(value: unknown): number | bigint | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? Math.trunc(value) : undefined;
  const exact = isLong(value)
    ? BigInt.asIntN(64, bitsOf(value))
    : typeof value === 'string' && INTEGER.test(value)
      ? BigInt(value)
      : typeof value === 'bigint'
        ? value
        : undefined;
  if (exact === undefined) return undefined;
  const number = Number(exact);
  return Number.isSafeInteger(number) ? number : exact;
}

/** JSON writes `NaN` and `Infinity` as text. */
function double(value: unknown): number | bigint | undefined {
  if (typeof value === 'bigint') return value;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

function bytes(value: unknown): string | undefined {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length).toString('base64');
  return typeof value === 'string' ? value : undefined;
}

/** An empty list is left out of JSON by some: `arrayValue: {}`. */
function listOf(value: unknown): readonly unknown[] | undefined {
  if (!isRecord(value)) return undefined;
  const values = (value as JsonRecord & { readonly values?: unknown }).values;
  return Array.isArray(values) ? (values as unknown[]) : [];
}

function objectOf(
  entries: readonly unknown[] | undefined,
  warn: (warning: string) => void,
  depth: number,
): AttributeValue | undefined {
  if (entries === undefined) return undefined;
  const members: [string, AttributeValue][] = [];
  for (const entry of entries) {
    const key = isRecord(entry) ? member(entry, 'key') : undefined;
    if (isRecord(entry) && typeof key === 'string') members.push([key, valueOf(member(entry, 'value'), warn, depth + 1) ?? null]);
  }
  // fromEntries defines own properties, so a `__proto__` key stays data.
  return Object.fromEntries(members);
}
