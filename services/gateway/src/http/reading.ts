import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { headerText, readingSession, type ReadingSession } from '../rules/reading-session.js';
import { invalidRequest } from './problem.js';

export const SESSION_HEADER = 'Fleetmend-Session';
export const TURN_HEADER = 'Fleetmend-Turn';

/** The session that a request reads for. `named`: by other means than the header, which then counts. @throws ProblemError 422 */
export function readingOf({ headers }: FastifyRequest, named?: string): ReadingSession {
  const session = named ?? headerText(headers[SESSION_HEADER.toLowerCase()]);
  const read = readingSession(session, headerText(headers[TURN_HEADER.toLowerCase()]));
  if (read.ok) return read.reading;
  const header = read.path === 'session' ? SESSION_HEADER : TURN_HEADER;
  throw invalidRequest(`${header}: ${read.error}.`, [{ path: header, message: read.error }]);
}

/** The parameter of a handler that receives who reads. */
export const Reading = createParamDecorator((_: unknown, context: ExecutionContext): ReadingSession =>
  readingOf(context.switchToHttp().getRequest<FastifyRequest>()),
);
