/** Bytes that the UTF-16 unit at `at` (with its other half, when it is a pair) takes in JSON as UTF-8, and its units. */
interface Cost {
  readonly bytes: number;
  readonly units: 1 | 2;
}

const ONE_BYTE: Cost = { bytes: 1, units: 1 };
const TWO_BYTES: Cost = { bytes: 2, units: 1 };
const THREE_BYTES: Cost = { bytes: 3, units: 1 };
const ESCAPED: Cost = { bytes: 6, units: 1 };
const PAIR: Cost = { bytes: 4, units: 2 };

/** Bytes of `text` as a JSON string in UTF-8, its quotes included. */
export function jsonStringBytes(text: string): number {
  let bytes = 2;
  for (let at = 0; at < text.length;) {
    const cost = costAt(text, at);
    bytes += cost.bytes;
    at += cost.units;
  }
  return bytes;
}

/** Bytes of a JSON value as compact JSON in UTF-8, without writing it. Bigints count as plain integers. */
export function jsonBytes(value: unknown): number {
  if (typeof value === 'string') return jsonStringBytes(value);
  if (Array.isArray(value)) return arrayBytes(value);
  if (typeof value === 'object' && value !== null) return objectBytes(value);
  return scalarBytes(value);
}

/** How many units of `text` fit into `budget` bytes of a JSON string's content, from its beginning; never half a pair. */
export function unitsFittingHead(text: string, budget: number): number {
  let left = budget;
  let at = 0;
  while (at < text.length) {
    const cost = costAt(text, at);
    left -= cost.bytes;
    if (left < 0) break;
    at += cost.units;
  }
  return at;
}

/** The same from its end. */
export function unitsFittingTail(text: string, budget: number): number {
  let left = budget;
  let at = text.length;
  while (at > 0) {
    const start = isPair(text, at - 2) ? at - 2 : at - 1;
    left -= costAt(text, start).bytes;
    if (left < 0) break;
    at = start;
  }
  return text.length - at;
}

function arrayBytes(items: readonly unknown[]): number {
  let bytes = 1;
  for (const item of items) bytes += jsonBytes(item) + 1;
  return items.length === 0 ? 2 : bytes;
}

function objectBytes(object: object): number {
  const source = object as Readonly<Record<string, unknown>>;
  let bytes = 1;
  let members = 0;
  for (const key of Object.keys(source)) {
    const value = source[key];
    if (value === undefined) continue;
    bytes += jsonStringBytes(key) + 1 + jsonBytes(value) + 1;
    members += 1;
  }
  return members === 0 ? 2 : bytes;
}

function scalarBytes(value: unknown): number {
  if (typeof value === 'bigint') return value.toString().length;
  if (typeof value === 'number') return Number.isFinite(value) ? String(value + 0).length : 4;
  return value === false ? 5 : 4;
}

function costAt(text: string, at: number): Cost {
  const unit = text.charCodeAt(at);
  if (unit < 0x80) return asciiCost(unit);
  if (unit < 0x800) return TWO_BYTES;
  if (unit < 0xd800 || unit > 0xdfff) return THREE_BYTES;
  // A lone surrogate is written as an escape.
  return isPair(text, at) ? PAIR : ESCAPED;
}

function asciiCost(unit: number): Cost {
  if (unit === 0x22 || unit === 0x5c) return TWO_BYTES;
  if (unit >= 0x20) return ONE_BYTE;
  // \b \t \n \f \r have short escapes.
  return unit >= 8 && unit <= 13 && unit !== 11 ? TWO_BYTES : ESCAPED;
}

function isPair(text: string, at: number): boolean {
  const high = text.charCodeAt(at);
  const low = text.charCodeAt(at + 1);
  return high >= 0xd800 && high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff;
}
