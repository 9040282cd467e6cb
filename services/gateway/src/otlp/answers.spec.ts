import { describe, expect, it } from '@jest/globals';
import protobuf from 'protobufjs';
import { exportResponse, statusMessage } from './answers.js';

// As the specifications declare them, read by the library's own parser.
const { root } = protobuf.parse(`
  syntax = "proto3";
  message ExportTraceServiceResponse { ExportTracePartialSuccess partial_success = 1; }
  message ExportTracePartialSuccess { int64 rejected_spans = 1; string error_message = 2; }
  message Status { int32 code = 1; string message = 2; repeated Any details = 3; }
  message Any { string type_url = 1; bytes value = 2; }
  message BadRequest { repeated FieldViolation field_violations = 1;
    message FieldViolation { string field = 1; string description = 2; } }`);
const read = (type: string, bytes: Uint8Array): Record<string, unknown> => {
  const message = root.lookupType(type);
  return message.toObject(message.decode(bytes), { longs: String, defaults: true });
};
const readJson = (bytes: Buffer): unknown => JSON.parse(bytes.toString());

describe('the answer to an export', () => {
  it('is empty when everything is stored and there is nothing to say', () => {
    expect(exportResponse('protobuf', 0, '')).toHaveLength(0);
    expect(readJson(exportResponse('json', 0, ''))).toEqual({});
  });

  it.each([
    [3, '3 spans rejected: trace id (3)'],
    [0, 'accepted, but changed: naïve… (1)'],
    [5_000_000_000, 'x'.repeat(5_000)],
  ])('says what was rejected in either encoding: %d', (rejected, message) => {
    expect(read('ExportTraceServiceResponse', exportResponse('protobuf', rejected, message))).toEqual({
      partialSuccess: { rejectedSpans: String(rejected), errorMessage: message },
    });
    expect(readJson(exportResponse('json', rejected, message))).toEqual({
      partialSuccess: { rejectedSpans: String(rejected), errorMessage: message },
    });
  });
});

describe('an error', () => {
  it('is a google.rpc.Status in either encoding', () => {
    const wanted = { code: 14, message: 'The broker is away' };
    expect(read('Status', statusMessage('protobuf', 503, 'The broker is away'))).toEqual({ ...wanted, details: [] });
    expect(readJson(statusMessage('json', 503, 'The broker is away'))).toEqual(wanted);
  });

  it('of a bad body says what is bad about it', () => {
    const violation = { field: 'body', description: 'no OTLP' };
    const type = 'type.googleapis.com/google.rpc.BadRequest';
    expect(readJson(statusMessage('json', 400, 'no OTLP'))).toEqual({
      code: 3,
      message: 'no OTLP',
      details: [{ '@type': type, fieldViolations: [violation] }],
    });
    const status = read('Status', statusMessage('protobuf', 400, 'no OTLP'));
    const [any] = status['details'] as { typeUrl: string; value: Uint8Array }[];
    expect(any?.typeUrl).toBe(type);
    expect(read('BadRequest', any?.value ?? new Uint8Array())).toEqual({ fieldViolations: [violation] });
  });

  it('never has the code 0, which some clients take for success', () => {
    for (const status of [400, 401, 403, 405, 408, 413, 415, 429, 500, 502, 503])
      expect(readJson(statusMessage('json', status, ''))).toMatchObject({ code: expect.any(Number) });
    expect([400, 401, 408, 500].map((status) => (readJson(statusMessage('json', status, '')) as { code: number }).code)).toEqual([
      3, 16, 13, 13,
    ]);
  });
});
