import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { InfrastructureError } from '#messaging';
import { classifyDatabaseError } from '#persistence';
import { sendStatus } from '../otlp/send-status.js';
import { isOtlp } from '../otlp/encoding.js';
import { ProblemError, problemOf, unavailable } from './problem.js';

export const PROBLEM_TYPE = 'application/problem+json';

/** undefined_table, undefined_column, invalid_schema_name, undefined_function: the schema is older than this program. */
const UNMIGRATED = new Set(['42P01', '42703', '3F000', '42883']);

/** Every error that leaves the gateway is a problem, and never shows a stack. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger('http');

  catch(error: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    // A stream that has begun cannot become a problem any more.
    if (reply.raw.headersSent) reply.raw.destroy();
    else sendProblem(reply, this.problemFor(error));
  }

  private problemFor(error: unknown): ProblemError {
    const known = knownProblem(error);
    if (known !== undefined) return known;
    const reference = randomUUID();
    this.logger.error(`${reference}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return new ProblemError(problemOf('internal', 500, `This is a fault of the gateway; its log has it under ${reference}.`));
  }
}

function knownProblem(error: unknown): ProblemError | undefined {
  if (error instanceof ProblemError) return error;
  const classified = classifyDatabaseError(error);
  if (classified instanceof InfrastructureError)
    return unavailable(`The ${classified.dependency} is away; nothing was changed. Send the request again.`);
  if (UNMIGRATED.has(codeOf(error))) return unavailable('The database is not migrated to this version: run `fleetmend migrate`.');
  if (error instanceof HttpException) return ofStatus(error.getStatus(), error.message);
  const { statusCode } = (error ?? {}) as { statusCode?: unknown };
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return ofStatus(statusCode, (error as Error).message);
  return undefined;
}

function codeOf(error: unknown): string {
  const { driverError, code } = (error ?? {}) as { driverError?: { code?: string }; code?: string };
  return driverError?.code ?? code ?? '';
}

function ofStatus(status: number, message: string): ProblemError {
  if (status === 404) return new ProblemError(problemOf('not-found', 404, message));
  if (status === 413) return new ProblemError(problemOf('too-large', 413, message));
  if (status === 415) return new ProblemError(problemOf('unsupported-media-type', 415, message));
  return new ProblemError(problemOf(status < 500 ? 'bad-http' : 'unavailable', status, message));
}

/** Sends a problem with its headers. Also for errors before any route is known. Exporters of OTLP are told in their own words. */
export function sendProblem(reply: FastifyReply, { problem, headers, extra }: ProblemError): void {
  if (isOtlp(reply.request)) return sendStatus(reply, problem, headers);
  void reply
    .status(problem.status)
    .headers(headers)
    .type(PROBLEM_TYPE)
    .send(JSON.stringify({ ...problem, ...extra }));
}

/** What is not even HTTP, or has headers of more than 16 KiB, is answered on the bare socket. */
export function answerBadHttp(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const large = error.code === 'HPE_HEADER_OVERFLOW';
  const status = large
    ? '431 Request Header Fields Too Large'
    : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? '408 Request Timeout'
      : '400 Bad Request';
  const detail = large
    ? 'The headers, the URL included, are larger than 16 KiB.'
    : 'This is not a request that HTTP allows, or it did not arrive in time.';
  const body = JSON.stringify(problemOf('bad-http', Number(status.slice(0, 3)), detail));
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: ${PROBLEM_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
