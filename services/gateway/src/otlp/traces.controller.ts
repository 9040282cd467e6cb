import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import type { Caller } from '../access/caller.js';
import { CurrentCaller } from '../http/current-caller.js';
import { notFound, ProblemError, problemOf } from '../http/problem.js';
import { decodeCursor, pageOf } from '../http/cursor.js';
import { Input, Route, type InputOf } from '../http/route.js';
import { ReceivedTraces } from '../postgres/received-traces.js';
import type { ReceivedTrace, ReceivedTraceSpans } from '#contracts';
import { exportResponse } from './answers.js';
import type { ByteBudget } from './byte-budget.js';
import { encodingOf, MEDIA_TYPES, type OtlpEncoding } from './encoding.js';
import { HELD_BODIES, readHeld } from './held-body.js';
import { otlpRoutes } from './routes.js';
import { TracesIngest } from './traces-ingest.js';

/** OpenTelemetry's door: OTLP/HTTP as its specification has it. */
@Controller()
export class TracesController {
  constructor(
    @Inject(TracesIngest) private readonly ingest: TracesIngest,
    @Inject(HELD_BODIES) private readonly held: ByteBudget,
    @Inject(ReceivedTraces) private readonly traces: ReceivedTraces,
  ) {}

  @Route(otlpRoutes.postTraces)
  async postTraces(
    @CurrentCaller() { project }: Caller,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const encoding = encodingAsked(request);
    const body = await readHeld(request, payloadOf(request), this.held);
    try {
      const tally = await this.ingest.accept(project, encoding, body.bytes);
      const answer = exportResponse(encoding, tally.rejected, tally.describe());
      await reply.type(MEDIA_TYPES[encoding]).send(answer);
    } finally {
      body.release();
    }
  }

  @Route(otlpRoutes.listTraces)
  async listTraces(
    @CurrentCaller() { project }: Caller,
    @Input() { query }: InputOf<typeof otlpRoutes.listTraces>,
  ): Promise<{ items: ReceivedTrace[]; next_cursor: string | null }> {
    const { cursor, limit, ...filter } = query;
    const rows = await this.traces.list(project, filter, decodeCursor(cursor), limit);
    const { items, next_cursor } = pageOf(rows, limit, ({ last_at: at, id }) => ({ at, id }));
    return { items: items.map(({ id: _, ...trace }) => trace), next_cursor };
  }

  @Route(otlpRoutes.readTrace)
  async readTrace(
    @CurrentCaller() { project }: Caller,
    @Input() { params, query }: InputOf<typeof otlpRoutes.readTrace>,
  ): Promise<ReceivedTraceSpans> {
    const { cursor, limit, late } = query;
    const trace = await this.traces.find(project, params.id);
    if (trace === undefined)
      throw notFound(
        'No span of this trace is stored, and no turn names it. One that was accepted a moment ago appears as soon as scoring has read it.',
      );
    const which = { project, trace: trace.trace_id, late: late === 'true' };
    const rows = await this.traces.spans(which, decodeCursor(cursor), limit);
    return { trace, ...pageOf(rows, limit, ({ started_at: at, span_id: id }) => ({ at, id })) };
  }
}

function encodingAsked({ headers }: FastifyRequest): OtlpEncoding {
  const type = headers['content-type'];
  const encoding = encodingOf(type);
  if (encoding !== undefined) return encoding;
  const known = Object.values(MEDIA_TYPES).join(' or ');
  throw new ProblemError(
    problemOf('unsupported-media-type', 415, `The content type is ${type ?? '(none)'}: send OTLP as ${known}.`),
  );
}

/** A request without a body has nothing to read. */
const payloadOf = ({ body }: FastifyRequest): Readable => (body instanceof Readable ? body : Readable.from([]));
