import type { FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import { BODY_LIMIT_BYTES, bodyTooLarge, decodedBody, DISCARD_LIMIT_BYTES, unreadableBody } from '../http/body.js';
import { unavailable } from '../http/problem.js';
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
 * is kept; the rest is read and thrown away, since a client that is still sending would see a reset instead of the answer.
 * @throws ProblemError 413 over 64 MiB, 503 over the budget, 400 when it breaks off or does not decompress, 415
 */
export async function readHeld(request: FastifyRequest, payload: Readable, budget: ByteBudget): Promise<HeldBody> {
  const stream = decodedBody(request, payload);
  const chunks: Buffer[] = [];
  let bytes = 0;
  let held = 0;
  let refused = false;
  const release = (): void => {
    chunks.length = 0;
    budget.give(held);
    held = 0;
  };
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      refused ||= bytes > BODY_LIMIT_BYTES || !budget.tryTake(chunk.length, bytes > SMALL_BYTES);
      if (refused) release();
      else {
        held += chunk.length;
        chunks.push(chunk);
      }
      if (bytes > DISCARD_LIMIT_BYTES) break;
    }
  } catch (error) {
    release();
    throw unreadableBody(error);
  }
  if (bytes > BODY_LIMIT_BYTES) throw bodyTooLarge();
  if (refused) throw unavailable('Too many bodies are being read at the moment; nothing of this one is stored. Send it again.');
  const whole = Buffer.concat(chunks, bytes);
  chunks.length = 0;
  return { bytes: whole, release };
}
