import { z } from 'zod';
import type { EventContract } from '../event.js';

export type Json = Record<string, unknown>;

/** What a reader of the events can ask for; AsyncAPI 3 is a superset of draft 7. */
export type SchemaTarget = 'draft-2020-12' | 'draft-7';

/**
 * The JSON Schema of what may be sent: defaults may be left out and unknown fields are let through, as every consumer does.
 * What JSON cannot say (a bigint, a refinement) is widened to what JSON can.
 */
export function jsonSchema(schema: z.ZodType, target: SchemaTarget): Json {
  return z.toJSONSchema(schema, { target, io: 'input', unrepresentable: 'any', override: readable });
}

/** An event's schema as a document of its own. */
export function eventSchemaDocument({ type, summary, schema }: EventContract): Json {
  const { $schema, ...rest } = jsonSchema(schema, 'draft-2020-12');
  return { $schema, $id: `urn:fleetmend:event:${type}`, title: type, description: summary, ...rest };
}

/** Digits beyond 2^53 are an integer all the same; the bounds of safe integers and of string keys say nothing to a reader. */
function readable({ zodSchema, jsonSchema: target }: { zodSchema: { _zod: { def: { type: string } } }; jsonSchema: Json }): void {
  if (zodSchema._zod.def.type === 'bigint') target['type'] = 'integer';
  if (target['maximum'] === Number.MAX_SAFE_INTEGER) delete target['maximum'];
  if (target['minimum'] === Number.MIN_SAFE_INTEGER) delete target['minimum'];
  if (JSON.stringify(target['propertyNames']) === '{"type":"string"}') delete target['propertyNames'];
}
