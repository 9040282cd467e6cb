import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { FinalState } from '#checker';
import type { TurnInput } from '#recordings';
import { eventually, testDatabase, type TestDatabase } from '#testing';
import { fleet } from '../support/fleet.js';
import { difference, Loop } from '../support/loop.js';
import { ownNats, type OwnServer } from '../support/own-servers.js';
import { seeded, shuffled } from '../support/random.js';
import { tauBenchTurns } from '../support/recordings.js';
import { sharedIsThere } from '../support/root.js';

const MINUTE = 60_000;
const SEED = 20_260_117;

const inputs: { name: string; turns: () => TurnInput[] }[] = [
  ...(sharedIsThere('the tau-bench recordings through the loop') ? [{ name: 'tau', turns: tauBenchTurns }] : []),
  { name: 'fleet', turns: () => fleet({ seed: SEED, sessions: 36, turns: 24 }) },
];

/** A verifier's word on some of the turns: wrong on a third of them. */
function outcomes(turns: readonly TurnInput[]): { turn: TurnInput; value: number }[] {
  const random = seeded(SEED);
  return turns.filter(() => random() < 0.3).map((turn) => ({ turn, value: random() < 0.33 ? 0 : 1 }));
}

describe('the loop, every service a process of its own', () => {
  let nats: OwnServer;
  let database: TestDatabase;
  let loop: Loop;
  let second: Loop;

  beforeAll(async () => {
    [nats, database] = await Promise.all([ownNats(), testDatabase()]);
    const options = { natsUrl: nats.url, databaseUrl: database.url, settings: { circuit_breaker_max_notices: 0 } };
    loop = await Loop.open(options);
    second = await Loop.open(options);
    loop.start();
  }, MINUTE);

  afterAll(async () => {
    await second.close();
    await loop.close();
    await nats.drop();
    await database.drop();
  }, MINUTE);

  async function run(project: string, send: () => Promise<void>): Promise<FinalState> {
    const heard = loop.watchNotices(project);
    await loop.createProject(project);
    await send();
    await loop.quiet(2 * MINUTE);
    const posted = await loop.rows<{ id: string }>(
      "SELECT id FROM mailbox.notices WHERE project = $1 AND passage IN ('post', 'needs_human') ORDER BY id",
      [project],
    );
    await eventually(() => heard.length >= posted.length);
    expect(await loop.deadLetters(project)).toEqual({});
    expect([...heard].sort()).toEqual(posted.map(({ id }) => id));
    return loop.state(project);
  }

  describe.each(inputs)('with the turns of $name', ({ name, turns: make }) => {
    const turns = make();
    let clean: FinalState;

    beforeAll(async () => {
      clean = await run(`${name}-clean`, () => loop.publish(`${name}-clean`, turns));
    }, 3 * MINUTE);

    it(
      'keeps every turn once, finds problems, and holds the invariants',
      async () => {
        const [counted] = await loop.rows<{ turns: string; notices: string }>(
          `SELECT (SELECT count(*) FROM scoring.turns WHERE project = $1) AS turns, (SELECT count(*) FROM mailbox.notices WHERE project = $1) AS notices`,
          [`${name}-clean`],
        );
        expect(Number(counted?.turns)).toBe(turns.length);
        expect(Number(counted?.notices)).toBeGreaterThan(5);
        expect(await loop.violations()).toEqual([]);
      },
      MINUTE,
    );

    it('posts nothing that it takes back when turns come in order', async () => {
      const rows = await loop.rows(
        "SELECT session, t, signatures FROM mailbox.notices WHERE project = $1 AND status = 'corrected' ORDER BY session, t",
        [`${name}-clean`],
      );
      expect(rows).toEqual([]);
    });

    it('publishes a further revision only when it says something else', async () => {
      expect(await loop.idleRevisions(`${name}-clean`)).toEqual([]);
    });

    it(
      'ends the same when the turns come in any order, each three times',
      async () => {
        const project = `${name}-shuffled`;
        const state = await run(project, () => loop.publish(project, shuffled([...turns, ...turns, ...turns], SEED)));
        expect(difference(clean, state)).toBeUndefined();
      },
      3 * MINUTE,
    );

    it(
      'ends the same when every service has two copies',
      async () => {
        second.start();
        const project = `${name}-copies`;
        const state = await run(project, () => loop.publish(project, shuffled([...turns, ...turns], SEED + 1)));
        await Promise.all(second.services.map((service) => service.stop()));
        expect(difference(clean, state)).toBeUndefined();
      },
      3 * MINUTE,
    );

    it(
      'ends the same whether a verifier speaks before, after or beside the turn',
      async () => {
        const words = outcomes(turns);
        const speak = async (project: string): Promise<void> => {
          for (const { turn, value } of words) await loop.publishOutcome(project, turn, value);
        };
        const after = await run(`${name}-after`, async () => {
          await loop.publish(`${name}-after`, turns);
          await loop.quiet(MINUTE);
          await speak(`${name}-after`);
        });
        const before = await run(`${name}-before`, async () => {
          await speak(`${name}-before`);
          await loop.quiet(MINUTE);
          await loop.publish(`${name}-before`, turns);
        });
        const beside = await run(`${name}-beside`, async () => {
          await Promise.all([loop.publish(`${name}-beside`, turns), speak(`${name}-beside`)]);
        });
        expect(difference(clean, after)).toBeDefined();
        expect(difference(after, before)).toBeUndefined();
        expect(difference(after, beside)).toBeUndefined();
      },
      5 * MINUTE,
    );
  });

  it(
    'holds the invariants after everything, in all projects',
    async () => {
      for (const key of second.acknowledged) loop.acknowledged.add(key);
      expect(await loop.violations()).toEqual([]);
    },
    MINUTE,
  );

  it('never lost a process', () => {
    for (const { name, crashes, output } of [...loop.services, ...second.services])
      expect({ name, crashes, output: crashes > 0 ? output : '' }).toEqual({ name, crashes: 0, output: '' });
  });
});
