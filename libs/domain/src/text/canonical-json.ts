/**
 * JSON in the one form that summaries are cut from: keys sorted by code point, `, ` and `: ` as separators, everything
 * but printable ASCII escaped. Equal values give equal texts on every system. Expects a JSON value (bigints allowed).
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).sort(([a], [b]) => compareCodePoints(a, b));
    return `{${members.map(([key, member]) => `${asciiString(key)}: ${canonicalJson(member)}`).join(', ')}}`;
  }
  if (typeof value === 'string') return asciiString(value);
  return typeof value === 'bigint' ? value.toString() : scalar(value);
}

/** Order by code point; the default order of JavaScript puts emoji before U+E000, which no other system does. */
function compareCodePoints(a: string, b: string): number {
  const limit = Math.min(a.length, b.length);
  let index = 0;
  while (index < limit && a.charCodeAt(index) === b.charCodeAt(index)) index += 1;
  if (index === limit) return a.length - b.length;
  return rank(a.charCodeAt(index)) - rank(b.charCodeAt(index));
}

/** Lifts surrogates above the rest of the basic plane. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

function asciiString(text: string): string {
  return JSON.stringify(text).replace(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function scalar(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? JSON.stringify(value) : 'null';
}
