import { z } from 'zod';
import { problem } from '#contracts';
import { PROBLEM_TYPE } from './problem-filter.js';
import type { Answer, BodyContract, Named, RouteContract } from './route.js';
import { routeTable } from './routes.js';

type Json = Record<string, unknown>;
type Direction = 'input' | 'output';

const PROBLEM: Named = { name: 'Problem', schema: problem };

/** The OpenAPI 3.1 document of the gateway, made of the route table and its schemas; nothing is declared twice. */
export function openApiDocument(): Json {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Fleetmend gateway',
      version: '1',
      description:
        'Times in answers are integer microseconds since the epoch. Errors are RFC 9457 problem details. The project is always that of the key.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths: paths(),
    components: {
      schemas: schemas(),
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description: '`fm_<project>_<random>`. Not needed on loopback while no key exists.',
        },
      },
    },
  };
}

/** The place of a route in the document: `/v1/sessions/{id}`. */
export function openApiPath({ path }: RouteContract): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

function paths(): Json {
  const all: Record<string, Json> = {};
  for (const route of routeTable)
    all[openApiPath(route)] = { ...all[openApiPath(route)], [route.method.toLowerCase()]: operation(route) };
  return all;
}

function operation(route: RouteContract): Json {
  const parameters = [...parametersOf(route.params, 'path'), ...parametersOf(route.query, 'query')];
  return {
    operationId: route.id,
    summary: route.summary,
    ...(route.access === 'public' ? {} : { security: [{ key: [] }], 'x-scopes': [...route.access, 'operate'] }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.body) }),
    responses: responses(route.answers),
  };
}

function requestBody(body: BodyContract): Json {
  const binary = body.alsoAs === undefined ? {} : { [body.alsoAs]: {} };
  return { required: body.optional !== true, content: { 'application/json': { schema: reference(body) }, ...binary } };
}

function responses(answers: readonly Answer[]): Json {
  const own = answers.map(({ status, description, body, mediaType }) => {
    const type = body === undefined ? (mediaType ?? PROBLEM_TYPE) : 'application/json';
    const schema =
      body === undefined ? (mediaType === undefined ? { schema: reference(PROBLEM) } : {}) : { schema: reference(body) };
    return [String(status), { description, content: { [type]: schema } }] as const;
  });
  return {
    ...Object.fromEntries(own),
    default: { description: 'A problem.', content: { [PROBLEM_TYPE]: { schema: reference(PROBLEM) } } },
  };
}

const reference = ({ name }: Named): Json => ({ $ref: `#/components/schemas/${name}` });

/** Every named schema of the table, as JSON Schema 2020-12: what is sent as it may come, what is answered as it is. */
function schemas(): Json {
  const named: (readonly [Named, Direction])[] = [[PROBLEM, 'output']];
  for (const { body, answers } of routeTable) {
    if (body !== undefined) named.push([body, 'input']);
    for (const answer of answers) if (answer.body !== undefined) named.push([answer.body, 'output']);
  }
  const entries = named.map(([{ name, schema }, direction]) => [name, jsonSchema(schema, direction)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function parametersOf(schema: z.ZodType | undefined, place: 'path' | 'query'): Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = jsonSchema(schema, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }));
}

function jsonSchema(schema: z.ZodType, io: Direction): Json {
  const options = { target: 'draft-2020-12', io, unrepresentable: 'any', override: describeBigint } as const;
  const { $schema: _, ...rest } = z.toJSONSchema(schema, options);
  return rest;
}

/** JSON has no bigint: an integer beyond 2^53 is written as digits all the same. */
function describeBigint({
  zodSchema,
  jsonSchema: target,
}: {
  zodSchema: { _zod: { def: { type: string } } };
  jsonSchema: Json;
}): void {
  if (zodSchema._zod.def.type === 'bigint') target['type'] = 'integer';
}
