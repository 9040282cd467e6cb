import { isRecord } from './json.js';

/** Keyword planted before every reference: it counts the evaluation's steps, so that no schema can run away. */
export const STEP_KEYWORD = 'x-fleetmend-step';

/** The schema is not one that will be compiled; the message is part of a score's reason. */
export class UnusableSchemaError extends Error {}

const NODES_MAX = 5000;
const DEPTH_MAX = 64;
/** Not used to validate, and a reference into them would escape the counting of steps. */
const ANNOTATIONS = new Set([
  '$schema',
  '$anchor',
  '$dynamicAnchor',
  '$recursiveAnchor',
  '$comment',
  'default',
  'examples',
  'example',
  'description',
  'title',
]);
/** Values, not schemas: copied as they are. */
const LITERALS = new Set(['const', 'enum']);
/** Keywords whose value maps free names (properties, definitions) to schemas: the names are not keywords. */
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

interface Count {
  nodes: number;
}

/**
 * A copy of a JSON Schema from outside that is fit to compile: identifiers dropped (they could clash with other projects'
 * schemas in one compiler), annotations dropped, a step counter before each reference, Gemini's upper-case types lowered.
 * Throws UnusableSchemaError for schemas that are too large, too deep, or refer where the counter cannot stand.
 */
export function prepareSchema(schema: unknown): Record<string, unknown> {
  const prepared = prepare(schema, { nodes: 0 }, 0);
  if (!isRecord(prepared)) throw new UnusableSchemaError('it is not an object');
  return prepared;
}

function prepare(value: unknown, count: Count, depth: number): unknown {
  count.nodes += 1;
  if (count.nodes > NODES_MAX || depth > DEPTH_MAX) throw new UnusableSchemaError('it is too large');
  if (Array.isArray(value)) return value.map((item) => prepare(item, count, depth + 1));
  if (typeof value === 'bigint') return Number(value);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value)
    .filter(([key, item]) => !ANNOTATIONS.has(key) && !isIdentifier(key, item))
    .map(([key, item]): [string, unknown] => [key, prepareKeyword(key, item, count, depth + 1)]);
  // fromEntries defines own properties, so a name `__proto__` stays a name.
  return withStep(Object.fromEntries(entries));
}

function prepareKeyword(key: string, value: unknown, count: Count, depth: number): unknown {
  if (LITERALS.has(key)) return value;
  if (key === 'type') return lowered(value);
  if (MAPS.has(key) && isRecord(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, item]): [string, unknown] => [name, prepare(item, count, depth + 1)]),
    );
  }
  return prepare(value, count, depth);
}

function isIdentifier(key: string, value: unknown): boolean {
  return (key === '$id' || key === 'id') && typeof value === 'string';
}

function lowered(type: unknown): unknown {
  if (Array.isArray(type)) return type.map(lowered);
  return typeof type === 'string' && TYPES.has(type.toLowerCase()) ? type.toLowerCase() : type;
}

function withStep(schema: Record<string, unknown>): Record<string, unknown> {
  if ('$dynamicRef' in schema || '$recursiveRef' in schema) throw new UnusableSchemaError('it uses dynamic references');
  const { $ref, ...rest } = schema;
  if (typeof $ref !== 'string') return schema;
  if (!$ref.startsWith('#')) throw new UnusableSchemaError('it refers to a remote schema');
  if (/\/(?:const|enum)(?:\/|$)/.test($ref)) throw new UnusableSchemaError('it refers into a literal value');
  const earlier = Array.isArray(rest.allOf) ? (rest.allOf as unknown[]) : [];
  return { ...rest, allOf: [{ [STEP_KEYWORD]: true }, { $ref }, ...earlier] };
}
