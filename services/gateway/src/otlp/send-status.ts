import type { FastifyReply } from 'fastify';
import type { Problem } from '#contracts';
import { statusMessage } from './answers.js';
import { encodingOf, MEDIA_TYPES } from './encoding.js';

/**
 * A problem as OTLP says it: google.rpc.Status in the encoding of the request, JSON where that is neither. Exporters send again
 * after 429, 502, 503 and 504 and after nothing else.
 */
export function sendStatus(reply: FastifyReply, { status, detail }: Problem, headers: Readonly<Record<string, string>>): void {
  const encoding = encodingOf(reply.request.headers['content-type']) ?? 'json';
  void reply
    .status(status)
    .headers(headers)
    .type(MEDIA_TYPES[encoding])
    .send(statusMessage(encoding, status, detail));
}
