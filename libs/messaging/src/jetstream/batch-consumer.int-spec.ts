import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { consumers, turnEnded } from '#contracts';
import { eventually, testNats, type TestNats } from '#testing';
import { BatchConsumer } from './batch-consumer.js';
import { bySchema } from './decode.js';
import { JetStreamPublisher } from './publisher.js';

const MINUTE = 60_000;

const common = {
  contract: consumers.scoringTurns,
  attempts: { begin: () => Promise.resolve(1), forget: () => Promise.resolve(), forgetUpTo: () => Promise.resolve() },
  maxAttempts: 5,
  ackWaitMs: 10_000,
  maxPayload: () => 8 * 1024 * 1024,
  logger: new Logger('test'),
  onHealth: () => undefined,
  onBatch: () => undefined,
};

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
        ...common,
        decoder: { decode: bySchema(turnEnded.schema), projects: { exists: () => Promise.resolve(true) } },
        handle: (batch) => {
          for (const { sequence } of batch) seen.add(sequence);
          return Promise.resolve();
        },
        publisher,
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

describe('a consumer of messages that name an unknown project', () => {
  let nats: TestNats;

  beforeAll(async () => {
    nats = await testNats();
  }, MINUTE);

  afterAll(() => nats.drop(), MINUTE);

  it(
    'waits for the answer once per batch, not once per message',
    async () => {
      const connection = await nats.connect('test');
      const publisher = new JetStreamPublisher(connection, 'test');
      const total = 200;
      const subject = turnEnded.subject('unknown');
      await publisher.publish(Array.from({ length: total }, () => ({ id: null, subject, data: '{}' })));
      const dead: (string | null)[] = [];
      const consumer = new BatchConsumer({
        ...common,
        logger: { log: () => undefined, warn: () => undefined, error: () => undefined },
        decoder: { decode: bySchema(turnEnded.schema), projects: { exists: () => sleep(100, false) } },
        handle: () => Promise.reject(new Error('nothing is for the handler')),
        publisher: {
          publish: (messages) => {
            dead.push(...messages.map(({ id }) => id));
            return publisher.publish(messages);
          },
        },
      });
      await consumer.start(jetstream(connection));
      // One after the other they would take twenty seconds.
      await eventually(() => new Set(dead).size === total, 10_000);
      await consumer.stop(1_000);
      publisher.close();
    },
    MINUTE,
  );
});
