import { toEpochMicros } from '#ingest';
import { isRecord, textOrUndefined, type JsonRecord } from '../json-value.js';
import type { Attributes, AttributeValue } from '../span.js';

/** Nanoseconds since the epoch of a time as exports write it (RFC 3339); null for none. */
export function nanosFrom(value: unknown): bigint | null {
  const micros = toEpochMicros(value);
  return micros === undefined ? null : BigInt(micros) * 1000n;
}

/** Parsed JSON holds nothing that an attribute's value could not. */
export function attributeValue(value: unknown): AttributeValue {
  return value as AttributeValue;
}

/** The members that are set, under a prefix. */
export function* members(record: unknown, prefix: string): Generator<readonly [string, AttributeValue]> {
  if (!isRecord(record)) return;
  for (const [key, value] of Object.entries(record)) {
    if (value !== undefined && value !== null) yield [prefix + key, attributeValue(value)];
  }
}

export function attributesOf(record: unknown): Attributes {
  return new Map(members(record, ''));
}

export function textIn(record: JsonRecord, key: string): string | undefined {
  return Object.hasOwn(record, key) ? textOrUndefined(record[key]) : undefined;
}
