import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Readable } from 'node:stream';
import { JsonSyntaxError, parseJson, type ParsedJson } from '#ingest';
import { ProblemError, problemOf } from './problem.js';

const MIB = 1024 * 1024;
export const BODY_LIMIT_BYTES = 64 * MIB;
/**
 * A client that is still sending does not read: cutting the connection would show it a reset instead of the answer. So what is
 * over the limit is read and thrown away, up to this much.
 */
export const DISCARD_LIMIT_BYTES = 8 * BODY_LIMIT_BYTES;

const DECODERS: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Every body arrives as bytes, whatever its type says; the route decides what it takes. One that is read by its route is a stream. */
export function readBodies(server: FastifyInstance, readByRoute: (request: FastifyRequest) => boolean): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) =>
    readByRoute(request) ? payload : collect(decodedBody(request, payload)),
  );
}

/** The body as it was before its Content-Encoding. @throws ProblemError 415 */
export function decodedBody(request: FastifyRequest, payload: Readable): Readable {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '') return payload;
  const decoder = DECODERS[encoding]?.();
  if (decoder === undefined) {
    const known = Object.keys(DECODERS).join(', ');
    throw new ProblemError(
      problemOf('unsupported-media-type', 415, `Content-Encoding "${encoding}" is not known: send ${known}, or none.`),
    );
  }
  payload.on('error', (error) => decoder.destroy(error));
  return payload.pipe(decoder);
}

/** Reads a stream to its end and keeps at most the limit. */
async function collect(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes <= BODY_LIMIT_BYTES) chunks.push(chunk);
      else chunks.length = 0;
      if (bytes > DISCARD_LIMIT_BYTES) break;
    }
  } catch (error) {
    throw unreadableBody(error);
  }
  if (bytes > BODY_LIMIT_BYTES) throw bodyTooLarge();
  return Buffer.concat(chunks, bytes);
}

export const unreadableBody = (error: unknown): ProblemError =>
  new ProblemError(
    problemOf('bad-http', 400, `The body cannot be read: ${error instanceof Error ? error.message : String(error)}`),
  );

export const bodyTooLarge = (): ProblemError =>
  new ProblemError(
    problemOf(
      'too-large',
      413,
      `The body is larger than ${BODY_LIMIT_BYTES / MIB} MiB: send fewer turns or spans per request. One over 16 MiB is cut on arrival.`,
    ),
  );

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/**
 * The request's body as JSON; undefined when there is none.
 * @throws ProblemError 415 for another content type, 400 when it is not JSON
 */
export function readJson(request: FastifyRequest): ParsedJson | undefined {
  const bytes = request.body instanceof Uint8Array ? request.body : undefined;
  if (bytes === undefined || bytes.length === 0) return undefined;
  // Also a guard: a web page may send other types to us without asking the browser's permission first.
  const type = request.headers['content-type'] ?? '(none)';
  if (!JSON_TYPE.test(type))
    throw new ProblemError(
      problemOf('unsupported-media-type', 415, `The content type is ${type}: send JSON with "Content-Type: application/json".`),
    );
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new ProblemError(problemOf('invalid-json', 400, error.message));
  }
}
