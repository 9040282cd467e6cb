import { canonicalJson } from './json.js';
import { compileSchema, type Validator } from './schema-validator.js';

/** Distinct schemas kept compiled: 1,000 agents of some dozens of kinds share them. Each costs about 40 KiB. */
const CAPACITY = 500;
/** A tool schema beyond this is taken for a mistake or an attack. */
const SCHEMA_TEXT_MAX = 65_536;

/** Least recently used first, by the schema's text: a turn brings its own copy of the catalogue, so identity cannot do. */
const byText = new Map<string, Validator>();
/** In front of it, for the several calls and metrics of one turn; entries go with their turn. */
const byIdentity = new WeakMap<object, Validator>();

/** The validator of a schema, compiled at most once while it stays among the last 500 used. Never throws. */
export function validatorOf(schema: Record<string, unknown>): Validator {
  const known = byIdentity.get(schema);
  if (known !== undefined) return known;
  const validator = fromText(schema);
  byIdentity.set(schema, validator);
  return validator;
}

function fromText(schema: Record<string, unknown>): Validator {
  const text = textOf(schema);
  if (text === undefined || text.length > SCHEMA_TEXT_MAX) return { kind: 'unusable', why: 'it is too large' };
  const validator = byText.get(text) ?? compileSchema(schema);
  byText.delete(text);
  byText.set(text, validator);
  if (byText.size > CAPACITY) byText.delete(byText.keys().next().value ?? '');
  return validator;
}

/** Plain JSON.stringify keeps key order, so two orders compile twice: cheaper than sorting keys on every turn. */
function textOf(schema: Record<string, unknown>): string | undefined {
  try {
    return JSON.stringify(schema);
  } catch {
    return canonicalJson(schema);
  }
}
