import { jetstream, type JetStreamClient, type JetStreamManager, type JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { consumers, type ConsumerContract } from '#contracts';
import { CONSUMER_NOT_FOUND, found } from './found.js';

/** How many messages are on their way at once: of at most 1 MiB each. */
const AT_ONCE = 64;
const EMPTY_MS = 1_000;
const LOOK_MS = 250;

/**
 * Events that had another stream before: what an earlier version stored there and nobody has handled goes to the stream where its
 * reader is now, and the former consumer is removed. Each message is stored there before it is acknowledged here, so that a move that
 * was broken off loses nothing, and goes on when it is started again. `patienceMs`: how long somebody may be at a message meanwhile.
 * Returns one line per change made.
 */
export async function moveEvents(nc: NatsConnection, jsm: JetStreamManager, patienceMs: number): Promise<string[]> {
  const changes: string[] = [];
  for (const contract of Object.values<ConsumerContract>(consumers)) {
    const { durable, event } = contract;
    const { formerStream: former } = event;
    if (former === undefined || (await found(jsm.consumers.info(former, durable), CONSUMER_NOT_FOUND)) === null) continue;
    const { moved, held } = await drain({ js: jetstream(nc), jsm, former, contract }, patienceMs);
    if (moved > 0) changes.push(`${moved} messages ${event.type} moved from ${former} to ${event.stream}`);
    if (held > 0) {
      changes.push(
        `${held} messages ${event.type} are being worked on in ${former}: migrate again when that process has stopped`,
      );
      continue;
    }
    await jsm.consumers.delete(former, durable);
    changes.push(`consumer ${durable} of ${former} removed`);
  }
  return changes;
}

interface Move {
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly former: string;
  readonly contract: ConsumerContract;
}

async function drain(move: Move, patienceMs: number): Promise<{ moved: number; held: number }> {
  const { js, jsm, former, contract } = move;
  const consumer = await js.consumers.get(former, contract.durable);
  let moved = 0;
  for (let patience = patienceMs; ;) {
    const messages: JsMsg[] = [];
    for await (const message of await consumer.fetch({ max_messages: AT_ONCE, expires: EMPTY_MS })) messages.push(message);
    moved += await moveAll(move, messages);
    if (messages.length > 0) continue;
    const { num_pending: pending, num_ack_pending: held } = await jsm.consumers.info(former, contract.durable);
    if (pending + held === 0 || (pending === 0 && patience <= 0)) return { moved, held };
    await sleep(LOOK_MS);
    patience -= LOOK_MS + EMPTY_MS;
  }
}

/** @throws when the new stream refuses: what is not acknowledged stays where it was. */
async function moveAll({ js, contract }: Move, messages: readonly JsMsg[]): Promise<number> {
  const expect = { streamName: contract.event.stream };
  await Promise.all(
    messages.map(async ({ subject, data, headers }) =>
      js.publish(subject, data, headers === undefined ? { expect } : { expect, headers }),
    ),
  );
  await Promise.all(messages.map((message) => message.ackAck()));
  return messages.length;
}
