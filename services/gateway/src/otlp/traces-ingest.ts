import { Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import { spansReceived } from '#contracts';
import { InfrastructureError, type OutgoingMessage, type StreamPublisher } from '#messaging';
import { decodeTraces, hasTooManyParts, MAX_MARKS, MAX_MESSAGES, OtlpError, type DecodedTraces } from '#otlp';
import { notStored, ProblemError, problemOf } from '../http/problem.js';
import type { Bodies } from '../ingest/bodies.js';
import type { Broker } from '../jetstream/broker.js';
import { ByteBudget } from './byte-budget.js';
import type { OtlpEncoding } from './encoding.js';
import type { OtlpMetrics } from './otlp-metrics.js';
import { chunksOf, type Chunk, type WrittenSpan } from './span-chunks.js';
import { countOf, Tally } from './tally.js';
import { readSpan } from './write-span.js';

const MIB = 1024 * 1024;
/** Spans are stored whenever so much of them is written, so that a large body is never in memory a second time. */
const WINDOW_BYTES = 8 * MIB;
/** After so long a body lets others have the thread. */
const SLICE_MS = 20;
const SMALL_BYTES = MIB;
/** Bytes of bodies that are worked on at once: one of the largest, and beside it small ones, which never wait for it. */
const LARGE_AT_ONCE = 64 * MIB;
const SMALL_AT_ONCE = 16 * MIB;

export interface TracesIngestParts {
  readonly publisher: StreamPublisher;
  readonly broker: Broker;
  readonly bodies: Bodies;
  readonly metrics: OtlpMetrics;
}

/** Takes what exporters send: reads every span into our words and publishes them; answers when the broker has stored them. */
export class TracesIngest {
  private readonly logger = new Logger('otlp');
  private readonly large = new ByteBudget(LARGE_AT_ONCE);
  private readonly small = new ByteBudget(SMALL_AT_ONCE);

  constructor(private readonly parts: TracesIngestParts) {}

  /**
   * @throws ProblemError 400 when the body is no OTLP at all; 503 when not everything could be stored. Sending it again is
   * harmless: a span is its ids.
   */
  async accept(project: string, encoding: OtlpEncoding, body: Uint8Array): Promise<Tally> {
    const lane = body.length > SMALL_BYTES ? this.large : this.small;
    await lane.take(body.length);
    const tally = new Tally();
    try {
      await this.storeAll(project, encoding, body, tally);
    } finally {
      lane.give(body.length);
      this.count(tally);
    }
    return tally;
  }

  private async storeAll(project: string, encoding: OtlpEncoding, body: Uint8Array, tally: Tally): Promise<void> {
    const { steps, rejected, warnings } = decode(encoding, body);
    const receivedAt = Date.now() * 1_000;
    let window: WrittenSpan[] = [];
    let bytes = 0;
    let since = performance.now();
    for (const span of steps) {
      const written = span === null ? undefined : readSpan(span, receivedAt, (error) => this.report(error));
      if (written?.ok === false) tally.reject(written.reason);
      else if (written !== undefined) {
        for (const note of written.notes) tally.warn(note);
        window.push(written.span);
        bytes += written.span.bytes;
      }
      if (bytes >= WINDOW_BYTES) {
        await this.store(project, window, tally);
        [window, bytes] = [[], 0];
      } else if (performance.now() - since > SLICE_MS) {
        await breathe();
        since = performance.now();
      }
    }
    await this.store(project, window, tally);
    for (const [reason, count] of rejected) tally.reject(reason, count);
    for (const [note, count] of warnings) this.parts.metrics.warn(note, count);
  }

  /** @throws ProblemError 503 when not all of them are stored */
  private async store(project: string, window: readonly WrittenSpan[], tally: Tally): Promise<void> {
    if (window.length === 0) return;
    const { broker, publisher, metrics } = this.parts;
    const chunks = chunksOf(window, broker.maxEventBytes);
    const refused = (stored: number, reason: string): ProblemError => {
      tally.accepted += stored;
      metrics.count('refused', window.length - stored);
      return notStored(`${reason}; ${countOf(tally.accepted)} of this body are stored. ${AGAIN}`, {});
    };
    if (!(await broker.whenThere())) throw refused(0, 'The broker is away');
    const messages = await this.messagesOf(project, chunks).catch((error: unknown) => {
      if (!(error instanceof InfrastructureError)) throw error;
      throw refused(0, 'The database, which keeps large spans, is away');
    });
    const failures = await publisher.publish(messages);
    const [failure] = failures;
    if (failure !== undefined) {
      const lost = failures.reduce((sum, { index }) => sum + (chunks[index]?.spans ?? 0), 0);
      throw refused(window.length - lost, failure.full ? `The stream is full (${failure.reason})` : failure.reason);
    }
    tally.accepted += window.length;
  }

  private async messagesOf(project: string, chunks: readonly Chunk[]): Promise<OutgoingMessage[]> {
    const messages: OutgoingMessage[] = [];
    for (const chunk of chunks) {
      const data = await this.eventOf(project, chunk);
      // The same spans again, in a retry, are the same message; the project keeps one from suppressing another's.
      const id = createHash('sha256').update(`${project}\n`).update(data).digest('hex');
      messages.push({ id, subject: spansReceived.subject(project), data });
    }
    return messages;
  }

  private async eventOf(project: string, { text, bytes }: Chunk): Promise<Buffer> {
    const data = Buffer.from(text);
    if (bytes <= this.parts.broker.maxEventBytes) return data;
    return Buffer.from(JSON.stringify({ body_ref: await this.parts.bodies.store(project, data) }));
  }

  private report(error: unknown): void {
    this.logger.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }

  private count(tally: Tally): void {
    const { metrics } = this.parts;
    metrics.count('accepted', tally.accepted);
    for (const [reason, count] of tally.rejectedFor) metrics.reject(reason, count);
    for (const [note, count] of tally.warned) metrics.warn(note, count);
  }
}

const AGAIN = 'Send it again after Retry-After seconds; what is stored already is not stored twice.';

function decode(encoding: OtlpEncoding, body: Uint8Array): DecodedTraces {
  if (hasTooManyParts(body, encoding)) {
    const limit = encoding === 'json' ? `${numeral(MAX_MARKS)} brackets and commas` : `${numeral(MAX_MESSAGES)} messages`;
    const detail = `The body has more than ${limit}: send fewer spans per request.`;
    throw new ProblemError(problemOf('too-large', 413, detail));
  }
  try {
    return decodeTraces(body, encoding);
  } catch (error) {
    if (!(error instanceof OtlpError)) throw error;
    throw new ProblemError(problemOf('invalid-request', 400, error.message));
  }
}

const numeral = (count: number): string => count.toLocaleString('en');
