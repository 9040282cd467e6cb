/**
 * A text by which two calls can be told to have the same arguments, whatever the order of their keys and whether they are JSON or
 * text that holds JSON. No arguments, null and an empty text are the same. Undefined when they were not recorded: no call is like it.
 */
export function argumentsKey(given: unknown): string | undefined {
  if (given === undefined) return undefined;
  return canonical(typeof given === 'string' ? read(given) : given);
}

/** Frameworks record arguments as objects, or as the text that the model wrote. Any other text is itself the argument. */
function read(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  if (!/^[{["]/.test(trimmed)) return text;
  try {
    return JSON.parse(trimmed);
  } catch {
    return text;
  }
}

function canonical(value: unknown): string {
  if (value === null || value === undefined) return '{}';
  return JSON.stringify(value, (_, member: unknown) => (isRecord(member) ? sorted(member) : written(member)));
}

function sorted(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  // fromEntries defines own properties, so a key `__proto__` stays a key.
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const written = (value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
