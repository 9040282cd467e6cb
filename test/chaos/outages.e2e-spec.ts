import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { consumers, deadLetter, scorePosted, sessionEnded, turnEnded } from '#contracts';
import { createDataSource } from '#persistence';
import { eventually } from '#testing';
import { fleet } from '../support/fleet.js';
import { difference, LOOP_SERVICES } from '../support/loop.js';
import { ownPostgres, type OwnServer } from '../support/own-servers.js';
import { readShared, ROOT, sharedIsThere } from '../support/root.js';
import { World } from './world.js';

const MINUTE = 60_000;

describe('the loop', () => {
  let world: World;

  beforeAll(async () => {
    world = await World.start();
    // Attempts are forgotten when a message succeeds later; this remembers them.
    await world.loop.rows(`CREATE TABLE public.attempts_ever (consumer text, event text, error text);
      CREATE FUNCTION public.note_attempt() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
      BEGIN INSERT INTO public.attempts_ever VALUES (NEW.consumer, NEW.event, NEW.last_error); RETURN NEW; END $$`);
    for (const service of LOOP_SERVICES)
      await world.loop.rows(
        `CREATE TRIGGER note AFTER INSERT OR UPDATE ON ${service}.attempts FOR EACH ROW EXECUTE FUNCTION public.note_attempt()`,
      );
  }, MINUTE);

  afterAll(() => world.close(), MINUTE);

  async function deadSubjects(): Promise<Record<string, number>> {
    const jsm = await jetstreamManager(world.loop.nats);
    const { state } = await jsm.streams.info(deadLetter.stream, { subjects_filter: deadLetter.pattern });
    return state.subjects ?? {};
  }

  /** Failures that were ever counted against a message. */
  function countedFailures(): Promise<unknown[]> {
    return world.loop.rows('SELECT * FROM public.attempts_ever WHERE error IS NOT NULL');
  }

  it(
    'waits while the broker, the database or both are away: nothing is lost, nothing counted, nobody dies',
    async () => {
      const turns = fleet({ seed: 5, sessions: 24, turns: 20 });
      const clean = await world.clean('undisturbed', turns);
      await world.createProject('outages');
      const publishing = (async () => {
        for (let from = 0; from < turns.length; from += 10) {
          await world.loop.publish('outages', turns.slice(from, from + 10));
          await sleep(150);
        }
      })();
      for (let times = 0; times < 5; times += 1) {
        await sleep(300);
        await world.loop.rows(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name ~ '^fleetmend-(scoring|gating|mailbox|validation)'",
        );
      }
      await world.nats.stop();
      await sleep(3_000);
      await world.nats.start();
      await sleep(1_000);
      await world.postgres.stop();
      await sleep(4_000);
      await world.postgres.start();
      await sleep(500);
      await Promise.all([world.nats.stop(), world.postgres.stop()]);
      await sleep(3_000);
      await Promise.all([world.nats.start(), world.postgres.start()]);
      await publishing;
      await world.loop.quiet(MINUTE);
      expect(difference(clean, await world.loop.state('outages'))).toBeUndefined();
      expect(await world.loop.violations()).toEqual([]);
      expect(await countedFailures()).toEqual([]);
      expect(await deadSubjects()).toEqual({});
      for (const { name, crashes, output } of world.processes)
        expect({ name, crashes, output: crashes > 0 ? output : '' }).toEqual({ name, crashes: 0, output: '' });
    },
    3 * MINUTE,
  );

  it(
    'puts aside at once what cannot be read, of every kind, and handles the rest',
    async () => {
      await world.createProject('garbage');
      const good = fleet({ seed: 6, sessions: 2, turns: 5 });
      const bad = [
        'plain text',
        '',
        'null',
        '42',
        '[]',
        '{"session_id": "s"',
        '{"turn_index": 1}',
        '{"session_id": "s", "turn_index": -1}',
        '{"session_id": "s", "turn_index": "one"}',
        '{"session_id": 7, "turn_index": 1}',
        JSON.stringify({ pattern: 'turns.ended', data: { session_id: 's-24', turn_index: 0 } }),
      ];
      const send = (subject: string, bodies: readonly string[]) =>
        world.loop.send(bodies.map((data) => ({ id: null, subject, data })));
      const begun = Date.now();
      for (const [index, body] of bad.entries()) {
        await send(turnEnded.subject('garbage'), [body]);
        await world.loop.publish('garbage', good.slice(index, index + 1));
      }
      await send(turnEnded.subject('nobody-knows'), [JSON.stringify(good[0])]);
      await send(scorePosted.subject('garbage'), ['{"session_id": "s"}', 'x']);
      await send(sessionEnded.subject('garbage'), ['{}', '{"session_id": "ended"}']);
      await eventually(async () => {
        expect(await deadSubjects()).toEqual({
          [deadLetter.subject('garbage', consumers.scoringTurns.durable)]: bad.length,
          [deadLetter.subject('nobody-knows', consumers.scoringTurns.durable)]: 1,
          [deadLetter.subject('garbage', consumers.scoringScores.durable)]: 2,
          [deadLetter.subject('garbage', consumers.validationSessions.durable)]: 1,
        });
        return true;
      }, 10_000);
      expect(Date.now() - begun).toBeLessThan(10_000);
      await world.loop.quiet(MINUTE);
      expect(await countedFailures()).toEqual([]);
      const kept = await world.loop.rows("SELECT 1 FROM scoring.turns WHERE project = 'garbage'");
      expect(kept).toHaveLength(good.length);
      const ended = await world.loop.rows("SELECT session FROM validation.session_ends WHERE project = 'garbage'");
      expect(ended).toEqual([{ session: 'ended' }]);
      expect(world.processes.map(({ crashes }) => crashes)).toEqual(world.processes.map(() => 0));
      // Dead letters count beside the turns: these were acknowledged, too.
      for (let index = 0; index <= bad.length; index += 1) world.loop.acknowledged.add(`dead letter ${index}`);
      expect(await world.loop.violations()).toEqual([]);
    },
    2 * MINUTE,
  );

  const cases = sharedIsThere('case 24 (raw messages of a Nest transport)') ? it : it.skip;
  cases(
    'takes every raw message of case 24 without dying, answers none, and puts the unreadable ones aside',
    async () => {
      const { inputs } = JSON.parse(readShared('cases/24-nest-event-no-reply-no-ack.json')) as {
        inputs: { body: { subject: string; reply: string | null; data: unknown }[] }[];
      };
      const messages = inputs.flatMap(({ body }) => body);
      expect(messages.length).toBeGreaterThan(3);
      await world.createProject('raw');
      const { nats } = world.loop;
      const answers: string[] = [];
      nats.subscribe('_INBOX.abc', {
        callback: (_error, message) => {
          // The broker itself says 503 where nobody listens.
          if (message.headers?.code !== 503) answers.push(message.string());
        },
      });
      for (const { subject, reply, data } of messages) {
        const body = typeof data === 'string' ? data : JSON.stringify(data);
        // Their subject stands for ours; as it is, nobody listens to it.
        const ours = subject === 'turns.ended' ? turnEnded.subject('raw') : `fm.raw.${subject}`;
        for (const to of [ours, subject]) nats.publish(to, body, reply === null ? {} : { reply });
      }
      await nats.flush();
      await world.loop.quiet(MINUTE);
      const kept = await world.loop.rows(
        "SELECT x.session, t.t::int FROM scoring.turns t JOIN scoring.sessions x USING (s) WHERE t.project = 'raw'",
      );
      expect(kept).toEqual([{ session: 's-24', t: 1 }]);
      expect((await deadSubjects())[deadLetter.subject('raw', consumers.scoringTurns.durable)]).toBe(3);
      // The only answer to a reply subject is the broker's own acknowledgement of what it stored.
      expect(answers.filter((answer) => !answer.includes('"stream":"FM_TURNS"'))).toEqual([]);
      expect(world.processes.map(({ crashes }) => crashes)).toEqual(world.processes.map(() => 0));
    },
    2 * MINUTE,
  );
});

describe('migrations', () => {
  let postgres: OwnServer;
  const children = new Set<ReturnType<typeof spawn>>();

  beforeAll(async () => {
    postgres = await ownPostgres();
  }, MINUTE);

  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await postgres.drop();
  });

  async function database(name: string): Promise<{ url: string; client: pg.Client }> {
    const admin = new pg.Client({ connectionString: postgres.url });
    await admin.connect();
    await admin.query(`CREATE DATABASE ${name}`);
    await admin.end();
    const url = new URL(postgres.url);
    url.pathname = `/${name}`;
    return { url: url.href, client: await connected(url.href) };
  }

  async function connected(url: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url });
    // A server that is stopped ends it.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  interface Outcome {
    readonly code: number | null;
    readonly applied: string[];
    readonly errors: string;
  }

  function migrateIn(url: string): { pid: number; kill: () => void; ended: Promise<Outcome> } {
    const child = spawn(process.execPath, [join(ROOT, 'dist/test/chaos/migrate-once.js'), url], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.add(child);
    let out = '';
    let errors = '';
    child.stdout.on('data', (data: Buffer) => (out += data.toString()));
    child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
    const ended = once(child, 'close').then(([code]) => {
      children.delete(child);
      return { code: code as number | null, applied: out === '' ? [] : (JSON.parse(out) as string[]), errors };
    });
    return { pid: child.pid ?? 0, kill: () => child.kill('SIGKILL'), ended };
  }

  async function recorded(client: pg.Client): Promise<{ name: string; times: number }[]> {
    const { rows } = await client.query<{ name: string; times: number }>(
      'SELECT name, count(*)::int AS times FROM fleetmend_migrations GROUP BY name ORDER BY name',
    );
    return rows;
  }

  async function fourAtOnce(url: string): Promise<{ appliers: number; outcomes: Outcome[] }> {
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => migrateIn(url).ended));
    expect(outcomes.map(({ code, errors }) => ({ code, errors }))).toEqual(outcomes.map(() => ({ code: 0, errors: '' })));
    return { appliers: outcomes.filter(({ applied }) => applied.length > 0).length, outcomes };
  }

  it(
    'are applied by exactly one of four processes that start at once, on an empty database and on an older one',
    async () => {
      const { url, client } = await database('race');
      const first = await fourAtOnce(url);
      expect(first.appliers).toBe(1);
      const all = await recorded(client);
      expect(all.length).toBeGreaterThan(1);
      expect(all.every(({ times }) => times === 1)).toBe(true);
      // The release before: without the newest migration.
      const owner = await createDataSource({ url, role: null, name: 'undo', poolSize: 1 }).initialize();
      await owner.undoLastMigration();
      await owner.destroy();
      expect((await recorded(client)).length).toBe(all.length - 1);
      const second = await fourAtOnce(url);
      expect(second.appliers).toBe(1);
      expect(await recorded(client)).toEqual(all);
      await client.end();
    },
    2 * MINUTE,
  );

  it(
    'go on with the next process when the one that holds the lock is killed half-way',
    async () => {
      const { url, client } = await database('killed');
      // Somebody has the first schema in an open transaction: whoever migrates has to wait in the middle of it.
      await client.query('BEGIN');
      await client.query('CREATE SCHEMA edge');
      const holder = migrateIn(url);
      const watcher = new pg.Client({ connectionString: url });
      await watcher.connect();
      await eventually(async () => {
        const { rowCount } = await watcher.query(
          "SELECT 1 FROM pg_stat_activity WHERE datname = 'killed' AND wait_event_type = 'Lock' AND query LIKE '%CREATE SCHEMA edge%'",
        );
        return (rowCount ?? 0) > 0;
      }, 20_000);
      const next = migrateIn(url);
      await sleep(1_000);
      holder.kill();
      expect((await holder.ended).code).toBeNull();
      await sleep(500);
      await client.query('ROLLBACK');
      const outcome = await next.ended;
      expect(outcome).toMatchObject({ code: 0, errors: '' });
      expect(outcome.applied.length).toBeGreaterThan(1);
      expect((await recorded(watcher)).every(({ times }) => times === 1)).toBe(true);
      await watcher.end();
      await client.end();
    },
    MINUTE,
  );
});
