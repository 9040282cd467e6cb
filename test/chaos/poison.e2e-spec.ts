import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  consumers,
  deadLetter,
  deadLetterHeaders,
  scorePosted,
  sessionEnded,
  tierRequested,
  type ConsumerContract,
} from '#contracts';
import { eventually, testDatabase, type TestDatabase } from '#testing';
import { checkInvariants } from '#checker';
import { Loop, serviceEnv } from '../support/loop.js';
import { ownNats, type OwnServer } from '../support/own-servers.js';
import { ROOT } from '../support/root.js';
import { ServiceProcess } from '../support/service-process.js';

const MINUTE = 60_000;
const ACK_WAIT_MS = 2_000;
const NEIGHBOURS = ['fine-0', 'fine-1', 'fine-2', 'fine-3', 'fine-4', 'fine-5', 'fine-6', 'fine-7'];

interface DeadLetter {
  readonly consumer: string;
  readonly reason: string;
  readonly deliveries: number;
  readonly text: string;
}

/** The durables are served by a program that does what its messages say (fake-service.ts): die, fail, take long. */
describe('a consumer whose messages', () => {
  let nats: OwnServer;
  let database: TestDatabase;
  let loop: Loop;
  let killed: ServiceProcess;
  let failing: ServiceProcess;
  const processes: ServiceProcess[] = [];

  function fake({ durable }: ConsumerContract): ServiceProcess {
    const env = serviceEnv({ natsUrl: nats.url, databaseUrl: database.url, ackWaitMs: ACK_WAIT_MS });
    const service = new ServiceProcess(durable, env, [join(ROOT, 'dist/test/chaos/fake-service.js'), durable]);
    processes.push(service);
    return service;
  }

  beforeAll(async () => {
    [nats, database] = await Promise.all([ownNats(), testDatabase()]);
    await database.query(
      'CREATE TABLE public.fake_notes (consumer text, what text, name text, pid int, at timestamptz DEFAULT clock_timestamp())',
    );
    await database.query('GRANT ALL ON public.fake_notes TO PUBLIC');
    loop = await Loop.open({ natsUrl: nats.url, databaseUrl: database.url, ackWaitMs: ACK_WAIT_MS });
    // Both take their time; they do it at once.
    killed = await serve(consumers.validationSessions, [...NEIGHBOURS.slice(0, 4), 'kill-1', ...NEIGHBOURS.slice(4)], (name) => [
      sessionEnded.subject('default'),
      { session_id: name },
    ]);
    failing = await serve(
      consumers.scoringScores,
      [...NEIGHBOURS.slice(0, 3), 'throw-1', ...NEIGHBOURS.slice(3), 'terminal-1'],
      (name) => [
        scorePosted.subject('default'),
        { session_id: name, turn_index: 0, scores: [{ metric: 'outcome_correct', value: 1 }] },
      ],
    );
  }, MINUTE);

  /** Sends one message per name, so that they are one batch, and starts who handles them. */
  async function serve(
    consumer: ConsumerContract,
    names: readonly string[],
    messageOf: (name: string) => [subject: string, payload: object],
  ): Promise<ServiceProcess> {
    const messages = names.map(messageOf);
    await loop.send(messages.map(([subject, payload]) => ({ id: null, subject, data: JSON.stringify(payload) })));
    const service = fake(consumer);
    service.immortal = true;
    service.start();
    return service;
  }

  afterAll(async () => {
    for (const service of processes) service.immortal = false;
    await Promise.all(processes.map((service) => service.kill()));
    await loop.close();
    await nats.drop();
    await database.drop();
  }, MINUTE);

  async function notes(consumer: ConsumerContract, what: 'begun' | 'handled'): Promise<Map<string, number>> {
    const rows = await database.query<{ name: string; times: number }>(
      'SELECT name, count(*)::int AS times FROM public.fake_notes WHERE consumer = $1 AND what = $2 GROUP BY name',
      [consumer.durable, what],
    );
    return new Map(rows.map(({ name, times }) => [name, times]));
  }

  async function dead(consumer: ConsumerContract): Promise<DeadLetter[]> {
    const subject = deadLetter.subject('default', consumer.durable);
    const reader = await jetstream(loop.nats).consumers.get(deadLetter.stream, { filter_subjects: subject });
    const { num_pending: total } = await reader.info();
    const letters: DeadLetter[] = [];
    if (total === 0) return letters;
    for await (const message of await reader.fetch({ max_messages: total, expires: 5_000 }))
      letters.push({
        consumer: consumer.durable,
        reason: message.headers?.get(deadLetterHeaders.reason) ?? '',
        deliveries: Number(message.headers?.get(deadLetterHeaders.deliveries)),
        text: message.string(),
      });
    return letters;
  }

  function attempts(service: string): Promise<{ consumer: string; attempts: number }[]> {
    return database.query(`SELECT consumer, attempts FROM ${service}.attempts`);
  }

  it(
    'kill the process: that one is dead after five attempts of its own, the others go through',
    async () => {
      const consumer = consumers.validationSessions;
      const [letter] = await eventually(async () => {
        const letters = await dead(consumer);
        return letters.length > 0 && letters;
      }, 2 * MINUTE);
      expect(letter).toMatchObject({ text: '{"session_id":"kill-1"}' });
      expect(letter?.reason).toMatch(/^delivered \d+ times without being finished$/);
      await eventually(async () => (await notes(consumer, 'handled')).size === NEIGHBOURS.length);
      await sleep(ACK_WAIT_MS + 1_000);
      expect(await dead(consumer)).toHaveLength(1);
      expect(await notes(consumer, 'handled')).toEqual(new Map(NEIGHBOURS.map((name) => [name, 1])));
      // Three times among the others, five times alone.
      expect((await notes(consumer, 'begun')).get('kill-1')).toBe(3 + 5);
      expect(killed.crashes).toBe(3 + 5);
    },
    3 * MINUTE,
  );

  it(
    'always fail: that one is dead after five attempts with its reason, its batch neighbours go through at once',
    async () => {
      const consumer = consumers.scoringScores;
      await eventually(async () => (await notes(consumer, 'handled')).size === NEIGHBOURS.length, 20_000);
      const hopeless = await eventually(async () => (await dead(consumer))[0], 20_000);
      expect(hopeless).toMatchObject({ reason: 'will never do terminal-1', deliveries: 1 });
      const letters = await eventually(async () => {
        const all = await dead(consumer);
        return all.length > 1 && all;
      }, 2 * MINUTE);
      expect(letters).toHaveLength(2);
      expect(letters[1]).toMatchObject({ reason: 'failed 5 times, last: cannot do throw-1', deliveries: 5 });
      expect(letters[1]?.text).toContain('"session_id":"throw-1"');
      expect(await notes(consumer, 'handled')).toEqual(new Map(NEIGHBOURS.map((name) => [name, 1])));
      expect(failing.crashes).toBe(0);
    },
    3 * MINUTE,
  );

  it(
    'take longer than ack_wait: heartbeats keep them from being given to another copy; a killed copy’s work is done by the other',
    async () => {
      const consumer = consumers.scoringTiers;
      const ask = (name: string) =>
        loop.send([
          {
            id: null,
            subject: tierRequested.subject('default'),
            data: JSON.stringify({ session_id: name, turn_index: 0, tier: 2 }),
          },
        ]);
      const copies = [fake(consumer), fake(consumer)];
      for (const copy of copies) copy.start();
      await ask('slow-1');
      await eventually(async () => (await notes(consumer, 'handled')).get('slow-1') === 1, 30_000);
      await sleep(ACK_WAIT_MS + 1_000);
      expect((await notes(consumer, 'begun')).get('slow-1')).toBe(1);
      expect((await notes(consumer, 'handled')).get('slow-1')).toBe(1);

      await ask('slow-2');
      const [first] = await eventually(async () => {
        const rows = await database.query<{ pid: number }>(
          "SELECT pid FROM public.fake_notes WHERE name = 'slow-2' AND what = 'begun'",
        );
        return rows.length > 0 && rows;
      }, 20_000);
      await sleep(1_500);
      process.kill(first?.pid ?? 0, 'SIGKILL');
      await eventually(async () => (await notes(consumer, 'handled')).get('slow-2') === 1, 30_000);
      expect((await notes(consumer, 'begun')).get('slow-2')).toBe(2);
      expect(await dead(consumer)).toEqual([]);
    },
    2 * MINUTE,
  );

  it(
    'leaves no attempts of what is dead or done, also where a killed process had written one down',
    async () => {
      await database.query("INSERT INTO scoring.attempts (consumer, event, attempts) VALUES ('scoring-scores', 'FM_TURNS:1', 1)");
      await eventually(async () => (await attempts('scoring')).length + (await attempts('validation')).length === 0, 15_000);
      const { violations, counted } = await checkInvariants({ natsUrl: nats.url, databaseUrl: database.url });
      expect(counted['attempts']).toBe(0);
      expect(violations).toEqual([]);
    },
    MINUTE,
  );
});
