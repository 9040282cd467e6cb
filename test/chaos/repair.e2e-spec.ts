import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { setTimeout as sleep } from 'node:timers/promises';
import { episodeSettled, resolvingStatuses } from '#contracts';
import { eventually, testNats, type ModelRequest, type Reply, type TestNats } from '#testing';
import type { Planted } from '../integration/repair-plant.js';
import { ack, add, episodeOf, RepairScene, resolve, ruleOf, speaking } from '../integration/repair-scene.js';
import { pick, seeded } from '../support/random.js';
import { isBuilt, ServiceProcess } from '../support/service-process.js';

const MINUTE = 60_000;
const SEED = Number(process.env['CHAOS_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const EPISODES = 500;
const PROCESSES = 4;
const SLOTS = 5;
const WORDS =
  'amber birch cedar delta ember frost grove haven ivory jolly karst lemon maple north ocean pearl quart raven stone tulip'.split(
    ' ',
  );

describe('repair workers that are killed at random moments', () => {
  let scene: RepairScene;
  let nats: TestNats;
  let workers: ServiceProcess[] = [];

  beforeAll(async () => {
    if (!isBuilt('repair')) throw new Error('build first: npm run build');
    [scene, nats] = [await RepairScene.open(), await testNats()];
    await scene.reset({ max_repairs_per_hour: 0, circuit_breaker_max_notices: 0 });
    const env = {
      ...{ NATS_URL: nats.url, DATABASE_URL: scene.db.url, FLEETMEND_REPAIR_MODEL: 'our-own', FLEETMEND_LOG_LEVEL: 'error' },
      ...{ FLEETMEND_REPAIR_BASE_URL: scene.models.url, FLEETMEND_MAX_CONCURRENT_REPAIRS: String(SLOTS) },
    };
    workers = Array.from({ length: PROCESSES }, () => new ServiceProcess('repair', env));
  }, MINUTE);

  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.kill()));
    await nats.drop();
    await scene.close();
  }, MINUTE);

  it(
    `settle ${EPISODES} episodes exactly once each, with one candidate at most, seed ${SEED}`,
    async () => {
      const random = seeded(SEED);
      const planted = await plantMany();
      scene.models.script((request) => says(request, planted));
      for (const worker of workers) worker.start();
      let kills = 0;
      while ((await open()) > 0) {
        await sleep(1_000 + 2_000 * random());
        const victim = pick(random, workers);
        await victim.kill();
        kills += 1;
        // As time would: a dead worker's leases run out. Living ones lose theirs too, and have to notice.
        await scene.query(
          `UPDATE repair.work SET leased_until = now() - interval '1 second' WHERE state = 'running' AND random() < 0.5`,
        );
        victim.start();
      }
      process.stderr.write(
        `repair chaos, seed ${SEED}: ${EPISODES} episodes, ${kills} kills, ${scene.models.requests.length} requests\n`,
      );
      expect(kills).toBeGreaterThan(2);
      await Promise.all(workers.map((worker) => worker.stop()));
      await everyEpisodeOnce();
    },
    6 * MINUTE,
  );

  it(
    'ask a model once for 500 sessions with one fault',
    async () => {
      await scene.reset({ max_repairs_per_hour: 0 });
      const fault = '["breach:tool_correctness",["pay"],["bill # is paid already"]]';
      const planted = new Map<string, Planted>();
      for (let at = 0; at < 500; at += 1) {
        const one = await scene.plant({ fingerprint: fault });
        planted.set(one.episode, one);
      }
      scene.models.script((request) => says(request, planted));
      const env = {
        ...{ NATS_URL: nats.url, DATABASE_URL: scene.db.url, FLEETMEND_REPAIR_MODEL: 'our-own', FLEETMEND_LOG_LEVEL: 'error' },
        FLEETMEND_REPAIR_BASE_URL: scene.models.url,
      };
      const pair = [new ServiceProcess('repair', env), new ServiceProcess('repair', env)];
      for (const worker of pair) worker.start();
      await eventually(async () => (await open()) === 0, MINUTE);
      await Promise.all(pair.map((worker) => worker.stop()));
      expect(await scene.query('SELECT count(*)::int AS n FROM repair.runs')).toEqual([{ n: 1 }]);
      expect(await scene.rules()).toHaveLength(1);
      expect(new Set(Object.values(await scene.notices()))).toEqual(new Set(['acknowledged']));
    },
    3 * MINUTE,
  );

  async function plantMany(): Promise<ReadonlyMap<string, Planted>> {
    const planted = new Map<string, Planted>();
    for (let at = 0; at < EPISODES; at += 1) {
      const one = await scene.plant();
      planted.set(one.episode, one);
    }
    return planted;
  }

  async function open(): Promise<number> {
    const [row] = await scene.query<{ n: number }>(`SELECT count(*)::int AS n FROM mailbox.episodes WHERE status <> 'settled'`);
    return row?.n ?? 0;
  }

  async function everyEpisodeOnce(): Promise<void> {
    expect(new Set(Object.values(await scene.notices()))).toEqual(new Set(['acknowledged']));
    const resolving = await scene.query<{ episode: string; n: number }>(
      'SELECT episode, count(*)::int AS n FROM repair.runs WHERE status = ANY($1::text[]) GROUP BY 1',
      [resolvingStatuses],
    );
    expect(resolving).toHaveLength(EPISODES);
    expect(resolving.filter(({ n }) => n !== 1)).toEqual([]);
    expect(await scene.query('SELECT episode FROM rules.rules GROUP BY 1 HAVING count(*) > 1')).toEqual([]);
    expect(await scene.query('SELECT run FROM repair.runs WHERE ended_at IS NULL')).toEqual([]);
    expect(await settledEvents()).toBe(EPISODES);
  }

  /** Ends of episodes in the stream, when the outbox of whoever died is empty too. */
  async function settledEvents(): Promise<number> {
    const [sweeper] = workers;
    sweeper?.start();
    await eventually(async () => (await scene.query('SELECT id FROM repair.outbox')).length === 0, MINUTE);
    await sweeper?.stop();
    const manager = await jetstreamManager(await nats.connect());
    const subjects = `fm.default.${episodeSettled.type}.>`;
    const { state } = await manager.streams.info(episodeSettled.stream, { subjects_filter: subjects });
    const counts = resolvingStatuses.map((status) => state.subjects?.[episodeSettled.subject('default', status)] ?? 0);
    return counts.reduce((sum, count) => sum + count, 0);
  }
});

/** A rule of its own for each episode, which no other covers; what was begun before is gone on with. */
function says(request: ModelRequest, planted: ReadonlyMap<string, Planted>): Reply {
  const one = planted.get(episodeOf(request));
  if (one === undefined) throw new Error('of no episode');
  const [notice = ''] = one.notices;
  const messages = request.body['messages'] as { role: string; content: string }[];
  const [last] = messages.filter(({ role }) => role === 'tool').slice(-1);
  const said = JSON.parse(last?.content ?? '{}') as { created?: boolean; existing_rule_id?: string };
  if (said.created === true || messages[0]?.content.includes('has written the rule')) return speaking([ack(notice, ruleOf(one))]);
  if (said.created === false) return speaking([resolve(notice, 'already_covered', { existing_rule_id: said.existing_rule_id })]);
  return speaking([add({ rule: wordsOf(one.episode), scope: `scope-${one.episode.slice(2, 4)}` })]);
}

function wordsOf(episode: string): string {
  const words = episode
    .slice(2)
    .split(/(?=.)/)
    .map((digit, at) => `${WORDS[(Number.parseInt(digit, 16) + at) % WORDS.length]}${digit}${at}`);
  return `When ${words.join(' ')}, look twice.`;
}
