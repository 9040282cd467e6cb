import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { Logger } from '@nestjs/common';
import { consumers, turnEnded } from '#contracts';
import { eventually, testNats, type TestNats } from '#testing';
import { BatchConsumer } from './batch-consumer.js';
import { bySchema } from './decode.js';
import { JetStreamPublisher } from './publisher.js';

const MINUTE = 60_000;

describe('a consumer of large messages', () => {
  let nats: TestNats;

  beforeAll(async () => {
    nats = await testNats();
  }, MINUTE);

  afterAll(() => nats.drop(), MINUTE);

  it(
    'does not pause when messages become larger and larger',
    async () => {
      const connection = await nats.connect('test');
      const publisher = new JetStreamPublisher(connection, 'test');
      const total = 600;
      const messages = Array.from({ length: total }, (_, index) => ({
        id: null,
        subject: turnEnded.subject('default'),
        data: JSON.stringify({ session_id: 's', turn_index: index, task_summary: 'x'.repeat(200 + 100 * index) }),
      }));
      for (let from = 0; from < total; from += 100) expect(await publisher.publish(messages.slice(from, from + 100))).toEqual([]);
      const seen = new Set<number>();
      const consumer = new BatchConsumer({
        contract: consumers.scoringTurns,
        decoder: { decode: bySchema(turnEnded.schema), projects: { exists: () => Promise.resolve(true) } },
        handle: (batch) => {
          for (const { sequence } of batch) seen.add(sequence);
          return Promise.resolve();
        },
        publisher,
        attempts: { begin: () => Promise.resolve(1), forget: () => Promise.resolve() },
        maxAttempts: 5,
        ackWaitMs: 10_000,
        maxPayload: () => 8 * 1024 * 1024,
        logger: new Logger('test'),
        onHealth: () => undefined,
        onBatch: () => undefined,
      });
      await consumer.start(jetstream(connection));
      // A pull that the broker ended early used to be missed for its whole 30 s.
      await eventually(() => seen.size === total, 25_000);
      await consumer.stop(1_000);
      publisher.close();
    },
    MINUTE,
  );
});
