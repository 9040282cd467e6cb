import { z } from 'zod';
import { receivedTrace, receivedTraceSpans, receivedTraceSpansQuery, receivedTracesQuery, traceIdText } from '#contracts';
import { ok, pageOf } from '../http/answers.js';
import { defineRoute, type Named } from '../http/route.js';
import { MEDIA_TYPES, TRACES_PATH } from './encoding.js';

/** As far as the document says it; OTLP itself is specified by OpenTelemetry, and a span that breaks it costs no other. */
const exportRequest = z.looseObject({ resourceSpans: z.array(z.unknown()).optional() });
const exportResponse = z.object({
  partialSuccess: z
    .object({ rejectedSpans: z.string().describe('A decimal number.'), errorMessage: z.string() })
    .optional()
    .describe('Absent when every span is stored. With 0 rejected the message is a warning.'),
});
const status: Named = {
  name: 'RpcStatus',
  schema: z.object({ code: z.int(), message: z.string(), details: z.array(z.unknown()).optional() }),
};

/** The errors of what exporters use are google.rpc.Status in the encoding of the request. */
export const otlpRoutes = {
  postTraces: defineRoute({
    id: 'postTraces',
    method: 'POST',
    path: TRACES_PATH,
    summary:
      'Spans over OTLP/HTTP (ExportTraceServiceRequest as protobuf or JSON; 64 MiB, gzip allowed), of whichever instrumentation. The answer has the encoding of the request.',
    access: ['ingest'],
    body: { name: 'ExportTraceServiceRequest', schema: exportRequest, raw: true, alsoAs: MEDIA_TYPES.protobuf },
    answers: [
      ok(
        { name: 'ExportTraceServiceResponse', schema: exportResponse },
        'What was not rejected is stored; the message counts the rejected spans per reason.',
      ),
      ok(status, 'No OTLP at all: sending it again cannot help.', 400),
      ok(status, 'A valid key is needed, in the Authorization header.', 401),
      ok(status, 'The key has not the scope ingest.', 403),
      ok(status, 'Larger than 64 MiB, decompressed.', 413),
      ok(status, 'Neither protobuf nor JSON, or an unknown Content-Encoding.', 415),
      ok(
        status,
        'The stream is full, the broker or the database away, or too many bodies are being read: send it again after Retry-After seconds.',
        503,
      ),
    ],
  }),
  listTraces: defineRoute({
    id: 'listTraces',
    method: 'GET',
    path: TRACES_PATH,
    summary:
      'Traces that came over OTLP, by their last span, newest first: which turn each is part of, or why it is part of none.',
    access: ['observe'],
    query: receivedTracesQuery,
    answers: [ok(pageOf('ReceivedTrace', receivedTrace), 'A page of traces.')],
  }),
  readTrace: defineRoute({
    id: 'readTrace',
    method: 'GET',
    path: `${TRACES_PATH}/:id`,
    summary: 'One trace that came over OTLP, with its spans by their start, late ones flagged; without what they hold.',
    access: ['observe'],
    params: z.object({ id: traceIdText }),
    query: receivedTraceSpansQuery,
    answers: [ok({ name: 'ReceivedTraceSpans', schema: receivedTraceSpans }, 'The trace, and a page of its spans.')],
  }),
} as const;
