/** A value that Postgres jsonb and text accept, and what had to be changed for that, once per kind. */
export interface Storable {
  readonly value: unknown;
  readonly notes: string[];
}

// With the `u` flag a surrogate in a class matches only when it stands alone.
const UNSTORABLE = /[\0\ud800-\udfff]/gu;
const REPLACEMENT = '\ufffd';

const NUL_NOTE = 'NUL characters were replaced by U+FFFD';
const SURROGATE_NOTE = 'lone surrogates were replaced by U+FFFD';
const NUMBER_NOTE = 'numbers that are not finite became null';
const MERGED_NOTE = 'keys that differed only in replaced characters were merged, the last one kept';

/**
 * Makes any JSON value storable: NUL and lone surrogates become U+FFFD in strings and keys, NaN and Infinity null.
 * The same object comes back when nothing had to change. A `__proto__` key stays an own property.
 * Expects nesting of a few hundred levels at most (`parseJson` refuses more).
 */
export function storable(value: unknown): Storable {
  const notes = new Set<string>();
  return { value: clean(value, notes), notes: [...notes] };
}

function clean(value: unknown, notes: Set<string>): unknown {
  if (typeof value === 'string') return cleanText(value, notes);
  if (typeof value === 'number') return cleanNumber(value, notes);
  if (Array.isArray(value)) return cleanArray(value, notes);
  return typeof value === 'object' && value !== null ? cleanObject(value, notes) : value;
}

function cleanText(text: string, notes: Set<string>): string {
  UNSTORABLE.lastIndex = 0;
  if (!UNSTORABLE.test(text)) return text;
  return text.replace(UNSTORABLE, (character) => {
    notes.add(character === '\0' ? NUL_NOTE : SURROGATE_NOTE);
    return REPLACEMENT;
  });
}

function cleanNumber(value: number, notes: Set<string>): number | null {
  if (Number.isFinite(value)) return value;
  notes.add(NUMBER_NOTE);
  return null;
}

function cleanArray(items: readonly unknown[], notes: Set<string>): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let index = 0; index < items.length; index += 1) {
    const cleaned = clean(items[index], notes);
    if (cleaned === items[index]) continue;
    copy ??= items.slice();
    copy[index] = cleaned;
  }
  return copy ?? items;
}

function cleanObject(object: object, notes: Set<string>): object {
  const members: [string, unknown][] = Object.entries(object);
  let changed = false;
  for (const member of members) {
    const [key, value] = member;
    member[0] = cleanText(key, notes);
    member[1] = clean(value, notes);
    changed ||= member[0] !== key || member[1] !== value;
  }
  if (!changed) return object;
  const copy = Object.fromEntries(members);
  if (Object.keys(copy).length < members.length) notes.add(MERGED_NOTE);
  return copy;
}
