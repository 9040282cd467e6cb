import type { FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import { BODY_LIMIT_BYTES, bodyTooLarge, decodedBody, DISCARD_LIMIT_BYTES, unreadableBody } from '../http/body.js';
import { ProblemError, unavailable } from '../http/problem.js';
import { ByteBudget } from './byte-budget.js';

/** A request's body, counted in the budget until it is released. */
export interface HeldBody {
  readonly bytes: Buffer;
  release(): void;
}

const MIB = 1024 * 1024;
/** A body up to here is a small one: a batch of an exporter's usual size is below it. */
const SMALL_BYTES = MIB;
/** Bytes of bodies in memory, read or being read; a quarter is kept for small ones. */
const HELD_BYTES = 128 * MIB;

/** Under which the gateway's one budget for bodies is injected. */
export const HELD_BODIES = Symbol('HELD_BODIES');
export const heldBodies = (): ByteBudget => new ByteBudget(HELD_BYTES, HELD_BYTES / 4);

/**
 * Reads a body that nobody has read yet, decompressed. What is over the limit or the budget is let go at once and no more of it
 * is unpacked or kept; the rest is read and thrown away, since a client that is still sending would see a reset instead of the
 * answer.
 * @throws ProblemError 413 over 64 MiB, 503 over the budget, 400 when it breaks off or does not decompress, 415
 */
export async function readHeld(request: FastifyRequest, payload: Readable, budget: ByteBudget): Promise<HeldBody> {
  const body = new GrowingBody(budget);
  try {
    await fill(body, decodedBody(request, payload), payload);
  } catch (error) {
    body.release();
    throw error instanceof ProblemError ? error : unreadableBody(error);
  }
  if (body.size > BODY_LIMIT_BYTES) throw bodyTooLarge();
  if (body.refused)
    throw unavailable('Too many bodies are being read at the moment; nothing of this one is stored. Send it again.');
  return { bytes: body.whole(), release: () => body.release() };
}

async function fill(body: GrowingBody, stream: Readable, payload: Readable): Promise<void> {
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    body.add(chunk);
    // What is small when packed may be endless when unpacked.
    if (body.size > DISCARD_LIMIT_BYTES || (body.refused && stream !== payload)) break;
  }
  if (body.refused && stream !== payload) await discard(payload);
}

async function discard(payload: Readable): Promise<void> {
  let bytes = 0;
  for await (const chunk of payload as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > DISCARD_LIMIT_BYTES) break;
  }
}

/** What has come of a body so far, as far as it may be kept. */
class GrowingBody {
  /** Bytes that came, kept or not. */
  size = 0;
  refused = false;
  private chunks: Buffer[] = [];
  private held = 0;

  constructor(private readonly budget: ByteBudget) {}

  add(chunk: Buffer): void {
    this.size += chunk.length;
    this.refused ||= this.size > BODY_LIMIT_BYTES || !this.budget.tryTake(chunk.length, this.size > SMALL_BYTES);
    if (this.refused) return this.release();
    this.held += chunk.length;
    this.chunks.push(chunk);
  }

  whole(): Buffer {
    const whole = Buffer.concat(this.chunks, this.size);
    this.chunks = [];
    return whole;
  }

  release(): void {
    this.chunks = [];
    this.budget.give(this.held);
    this.held = 0;
  }
}
