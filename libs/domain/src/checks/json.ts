/** A JSON object, and nothing with a class of its own. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Deeper input is left alone rather than walked: recursion must not overflow on hostile nesting. */
const DEPTH_MAX = 100;

/**
 * Canonical JSON: keys in code-unit order, so equal values give equal texts on every machine.
 * Integers beyond 2^53 (bigint) keep their digits. Undefined when nested too deeply to compare.
 */
export function canonicalJson(value: unknown, depth = 0): string | undefined {
  if (depth > DEPTH_MAX) return undefined;
  if (Array.isArray(value)) return joined(value, (item) => canonicalJson(item, depth + 1), '[', ']');
  if (isRecord(value)) {
    const keys = Object.keys(value).filter((key) => value[key] !== undefined);
    return joined(keys.sort(), (key) => keyed(key, canonicalJson(value[key], depth + 1)), '{', '}');
  }
  return scalar(value);
}

function keyed(key: string, text: string | undefined): string | undefined {
  return text === undefined ? undefined : `${JSON.stringify(key)}:${text}`;
}

function joined<T>(items: readonly T[], each: (item: T) => string | undefined, open: string, close: string): string | undefined {
  const parts: string[] = [];
  for (const item of items) {
    const part = each(item);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return open + parts.join(',') + close;
}

function scalar(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  // `-0` and `0` are the same argument; NaN and infinities are null in JSON.
  if (typeof value === 'number') return Number.isFinite(value) ? String(value + 0) : 'null';
  return 'null';
}

/** JSON.parse that answers undefined instead of throwing. */
export function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/**
 * Position after the first complete object or array of a text that begins with one; -1 when it never closes.
 * It only counts brackets outside strings; whether the part is JSON is for the parser to say.
 */
export function endOfFirstValue(text: string): number {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (inString) {
      if (char === '\\') at += 1;
      else if (char === '"') inString = false;
      continue;
    }
    if (char === '"') inString = true;
    else if (char === '{' || char === '[') depth += 1;
    else if ((char === '}' || char === ']') && --depth === 0) return at + 1;
  }
  return -1;
}
