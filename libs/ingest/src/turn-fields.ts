/** Fields whose content may be cut; everything else of a turn (ids, names, kinds, status, times) is its skeleton. */
const CUTTABLE: ReadonlySet<string> = new Set(['input', 'output', 'metadata', 'error', 'end_state']);
/** Lists whose items have such fields too. */
const NESTED: ReadonlySet<string> = new Set(['traces', 'spans']);

export type Change = (value: unknown) => unknown;

/** Applies `change` to every cuttable field of a turn, its traces and their spans; shares what does not change. */
export function changeFields(turn: unknown, change: Change): unknown {
  return changeMembers(turn, (key, value) => {
    if (CUTTABLE.has(key)) return change(value);
    if (NESTED.has(key) && Array.isArray(value)) return changeItems(value, (item) => changeFields(item, change));
    return value;
  });
}

/** Applies `change` to every string inside a JSON value; shares what does not change. */
export function changeStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return changeItems(value, (item) => changeStrings(item, change));
  return changeMembers(value, (_key, member) => changeStrings(member, change));
}

function changeItems(items: readonly unknown[], change: Change): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let index = 0; index < items.length; index += 1) {
    const changed = change(items[index]);
    if (changed === items[index]) continue;
    copy ??= items.slice();
    copy[index] = changed;
  }
  return copy ?? items;
}

function changeMembers(value: unknown, change: (key: string, member: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const source = value as Readonly<Record<string, unknown>>;
  let copy: Map<string, unknown> | undefined;
  for (const key of Object.keys(source)) {
    const before = source[key];
    const after = change(key, before);
    if (after === before) continue;
    // A Map keeps the order of keys and takes `__proto__` for a key like any other; so does fromEntries.
    copy ??= new Map(Object.entries(source));
    copy.set(key, after);
  }
  return copy === undefined ? value : Object.fromEntries(copy);
}
