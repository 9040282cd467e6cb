import {
  applyDecorators,
  createParamDecorator,
  HttpCode,
  RequestMapping,
  RequestMethod,
  SetMetadata,
  type ExecutionContext,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { KeyScope } from '#contracts';
import { storable } from '#domain/text';
import { readJson } from './body.js';
import { invalidRequest, type FieldProblem } from './problem.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** A schema under the name it has in the OpenAPI document. */
export interface Named<Schema extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly schema: Schema;
}

/** `raw`: the handler reads the body itself, item by item; the schema then is for the document only. */
export interface BodyContract<Schema extends z.ZodType = z.ZodType> extends Named<Schema> {
  readonly raw?: boolean;
  readonly optional?: boolean;
  /** A media type it may have beside JSON. */
  readonly alsoAs?: string;
}

export interface Answer {
  readonly status: number;
  readonly description: string;
  /** Without one the answer is of `mediaType`, and the document says no more about it. */
  readonly body?: Named;
  readonly mediaType?: string;
}

/** One route, declared once: the router, the access check, the validation and the OpenAPI document derive from it. */
export interface RouteContract {
  readonly id: string;
  readonly method: Method;
  /** In the router's form: `/v1/sessions/:id`. */
  readonly path: string;
  readonly summary: string;
  /** Any one of these scopes will do; `operate` always does. `public` needs no key. */
  readonly access: 'public' | readonly KeyScope[];
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: BodyContract;
  readonly answers: readonly [Answer, ...Answer[]];
}

export const defineRoute = <const R extends RouteContract>(route: R): R => route;

type OutputOf<S> = S extends z.ZodType ? z.output<S> : undefined;

/** What a handler is given: checked, made storable. */
export interface InputOf<R extends RouteContract> {
  readonly params: OutputOf<R['params']>;
  readonly query: OutputOf<R['query']>;
  readonly body: R['body'] extends BodyContract<infer S>
    ? z.output<S> | (R['body'] extends { optional: true } ? undefined : never)
    : undefined;
}

const ROUTE = Symbol('ROUTE');

/** Registers a controller's method as the handler of a route. */
export function Route(route: RouteContract): MethodDecorator {
  return applyDecorators(
    RequestMapping({ path: route.path, method: RequestMethod[route.method] }),
    HttpCode(route.answers[0].status),
    SetMetadata(ROUTE, route),
  );
}

/** The parameter of a handler that receives its `InputOf`. */
export const Input = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const route = Reflect.getMetadata(ROUTE, context.getHandler()) as RouteContract;
  return inputOf(route, context.switchToHttp().getRequest<FastifyRequest>());
});

function inputOf(route: RouteContract, request: FastifyRequest): unknown {
  const errors: FieldProblem[] = [];
  const params = checked(route.params, request.params, 'path', errors);
  const query = checked(route.query, request.query, 'query', errors);
  const body = route.body === undefined || route.body.raw === true ? undefined : checkedBody(route.body, request, errors);
  if (errors.length > 0) throw invalidRequest(describe(errors), errors);
  return { params, query, body };
}

function checkedBody(body: BodyContract, request: FastifyRequest, errors: FieldProblem[]): unknown {
  const value = readJson(request);
  if (value === undefined && body.optional === true) return undefined;
  return checked(body.schema, value?.value, '', errors);
}

/** Text is made storable first: a NUL in a path is then looked up as it was stored. */
function checked(schema: z.ZodType | undefined, value: unknown, place: string, errors: FieldProblem[]): unknown {
  if (schema === undefined) return undefined;
  const result = schema.safeParse(storable(value).value);
  if (result.success) return result.data;
  for (const { path, message } of result.error.issues)
    errors.push({ path: [place, ...path].filter((part) => part !== '').join('.'), message });
  return undefined;
}

/** A sentence for people; the fields are in `errors`. */
export function describe(errors: readonly FieldProblem[]): string {
  const [first] = errors;
  if (first === undefined) return 'It is not valid.';
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more, see errors)` : '';
  return `${first.path === '' ? 'The body' : first.path}: ${first.message}${more}`;
}
