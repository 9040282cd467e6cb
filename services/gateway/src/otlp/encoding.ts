import type { FastifyRequest } from 'fastify';

export const TRACES_PATH = '/v1/traces';

/** The two ways in which OTLP/HTTP writes its messages. An answer has the encoding of its request. */
export type OtlpEncoding = 'protobuf' | 'json';

export const MEDIA_TYPES: Readonly<Record<OtlpEncoding, string>> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
};

const ENCODINGS: ReadonlyMap<string, OtlpEncoding> = new Map([
  [MEDIA_TYPES.protobuf, 'protobuf'],
  // Not in the specification, but registered, and some proxies rewrite the other name to it.
  ['application/protobuf', 'protobuf'],
  [MEDIA_TYPES.json, 'json'],
]);

/** Of a Content-Type header, whatever its parameters; undefined for any other. */
export function encodingOf(contentType: string | undefined): OtlpEncoding | undefined {
  return ENCODINGS.get(contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '');
}

/** Whether a request speaks OTLP: its body is read by the route itself, and its errors are OTLP's. */
export function isOtlp(request: FastifyRequest): boolean {
  return request.method === 'POST' && !request.is404 && request.routeOptions.url === TRACES_PATH;
}
