import { parseJson } from '#ingest';

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own member; keys from outside must never reach a prototype. */
export function member(value: JsonRecord, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The first member among `keys` that is set. */
export function firstMember(value: JsonRecord, keys: readonly string[]): unknown {
  for (const key of keys) {
    const found = member(value, key);
    if (found !== undefined && found !== null) return found;
  }
  return undefined;
}

export function textOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Instrumentations write objects as JSON text. Text that is none, or is a bare word or number, stays text; NaN in it is null. */
export function fromJsonText(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{"]/.test(value)) return value;
  try {
    return parseJson(value).value;
  } catch {
    return value;
  }
}
