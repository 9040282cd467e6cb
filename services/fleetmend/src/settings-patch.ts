import { CommandError, exitCodes } from './exit-codes.js';

type Patch = Record<string, unknown>;

/** `a=1 b.c=x` as `{a: 1, b: {c: "x"}}`. What is no JSON is a text; whether it fits the setting says the gateway. */
export function settingsPatchOf(pairs: readonly string[]): Patch {
  const patch: Patch = Object.create(null) as Patch;
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    if (equals < 1) throw new CommandError(exitCodes.usage, `"${pair}" is not of the form name=value`);
    place(patch, pair.slice(0, equals).split('.'), valueOf(pair.slice(equals + 1)));
  }
  return patch;
}

function place(patch: Patch, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    patch[name] = value;
    return;
  }
  const inner = patch[name];
  const map = typeof inner === 'object' && inner !== null ? (inner as Patch) : (Object.create(null) as Patch);
  patch[name] = map;
  place(map, rest, value);
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
