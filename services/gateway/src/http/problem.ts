import type { Problem } from '#contracts';

export interface FieldProblem {
  readonly path: string;
  readonly message: string;
}

/** More would bury the ones that matter, and a hostile body could ask for millions. */
const MAX_ERRORS = 50;

/** An answer that is a problem (RFC 9457). `extra` are further members beside the standard ones. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  constructor(
    readonly problem: Problem,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly extra: Readonly<Record<string, unknown>> = {},
  ) {
    super(problem.detail);
  }
}

const TITLES = {
  'invalid-json': 'The body is not JSON',
  'invalid-request': 'The request is not valid',
  'invalid-turn': 'The turn is not valid',
  'invalid-cursor': 'The cursor is not one of ours',
  'nothing-accepted': 'No item was accepted',
  'too-large': 'Too large',
  'not-stored': 'Not stored',
  unauthenticated: 'A valid API key is needed',
  forbidden: 'Not allowed',
  'not-found': 'Not found',
  'method-not-allowed': 'The method is not allowed here',
  'unsupported-media-type': 'The content type is not supported',
  conflict: 'It exists already',
  'not-possible': 'Not possible as things are',
  'no-room': 'There is no room for it',
  unavailable: 'Not available at the moment',
  internal: 'An error of ours',
  'bad-http': 'The request cannot be read',
} as const;
export type ProblemKind = keyof typeof TITLES;

/** A problem of one of our kinds; `type` is a URN, because it names a kind rather than a page. */
export function problemOf(kind: ProblemKind, status: number, detail: string, errors?: readonly FieldProblem[]): Problem {
  const shown = errors === undefined ? undefined : shorten(errors);
  return {
    type: `urn:fleetmend:problem:${kind}`,
    title: TITLES[kind],
    status,
    detail,
    ...(shown === undefined ? {} : { errors: shown }),
  };
}

function shorten(errors: readonly FieldProblem[]): FieldProblem[] {
  if (errors.length <= MAX_ERRORS) return [...errors];
  return [...errors.slice(0, MAX_ERRORS), { path: '', message: `and ${errors.length - MAX_ERRORS} more` }];
}

export const invalidRequest = (detail: string, errors?: readonly FieldProblem[]): ProblemError =>
  new ProblemError(problemOf('invalid-request', 422, detail, errors));

export const notFound = (detail: string): ProblemError => new ProblemError(problemOf('not-found', 404, detail));

const RETRY_AFTER_S = 2;

/** 503: the client may simply ask again, after `Retry-After` seconds. */
export const unavailable = (detail: string): ProblemError =>
  new ProblemError(problemOf('unavailable', 503, detail), { 'retry-after': String(RETRY_AFTER_S) });

export const notStored = (detail: string, extra: Readonly<Record<string, unknown>>): ProblemError =>
  new ProblemError(problemOf('not-stored', 503, detail), { 'retry-after': String(RETRY_AFTER_S) }, extra);
