/** Hand-made checks of the offline lines: zod alone would take longer to load than most of these commands run. */

export type Fields = Record<string, unknown>;

/** @throws TypeError naming what a line has to be */
export function fieldsOf(line: unknown, example: string): Fields {
  if (isFields(line)) return line;
  throw new TypeError(`a line is one JSON object, for example ${example}`);
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function listOf<T>(fields: Fields, name: string, item: (value: unknown, path: string) => T): T[] {
  const value = fields[name];
  if (!Array.isArray(value)) throw new TypeError(`${name}: a list is needed`);
  return value.map((one: unknown, at) => item(one, `${name}.${at}`));
}

export function numberOf(value: unknown, path: string): number {
  if (typeof value === 'number') return value;
  throw new TypeError(`${path}: a number is needed, not ${JSON.stringify(value)}`);
}

export function textOf(value: unknown, path: string): string {
  if (typeof value === 'string') return value;
  throw new TypeError(`${path}: a text is needed, not ${JSON.stringify(value)}`);
}

export function objectOf(value: unknown, path: string): Fields {
  if (isFields(value)) return value;
  throw new TypeError(`${path}: an object is needed, not ${JSON.stringify(value)}`);
}

/**
 * The settings of a line that are known; each of the kind of its default. Others are refused, since a misspelt one would silently
 * answer another question. `ignored` are fields of the golden files that decide nothing here.
 */
export function configOf<T extends object>(fields: Fields, kinds: { [K in keyof T]-?: 'number' | 'boolean' }): Partial<T> {
  if (fields.config === undefined || fields.config === null) return {};
  const config = objectOf(fields.config, 'config');
  for (const [name, value] of Object.entries(config)) {
    const kind = (kinds as Record<string, string | undefined>)[name];
    if (kind === undefined) throw new TypeError(`config.${name}: not a setting here; there are ${Object.keys(kinds).join(', ')}`);
    if (typeof value !== kind) throw new TypeError(`config.${name}: a ${kind} is needed, not ${JSON.stringify(value)}`);
  }
  return config as Partial<T>;
}
