import { afterEach, describe, expect, it } from '@jest/globals';
import { StoredCapabilities } from '#llm-store';
import type { UnitOfWork } from '#persistence';
import { answerJson, eventually, status } from '#testing';
import { JobStore } from '../../services/scoring/src/postgres/job-store.js';
import { saying, Scene, trace, turn } from './scene.js';

let scene: Scene;
afterEach(() => scene.close());

describe('everything that scoring does at once', () => {
  it('waits for nothing in a circle', async () => {
    scene = await Scene.open(
      {
        max_cost_usd: 100,
        max_evals: 100_000,
        eval_sample_every: 1,
        session_min_eval_interval_s: 0.000001,
        tier1_metrics: ['task_completion', 'loop_detection'],
      },
      ({ index }) => (index % 17 === 0 ? status(429, { error: { message: 'slowly' } }, { 'retry-after-ms': '1' }) : saying(0.8)),
    );
    const [one, two] = [await scene.desk(), await scene.desk()];
    const desks = [one, two, await scene.desk()];
    const second = await scene.pipeline.anotherProcess();
    const batch = (round: number) =>
      Array.from({ length: 12 }, (_, index) =>
        turn(round, { session_id: `s${(index * 5) % 12}`, traces: [trace(`t${round}`, { input: `request ${index}` })] }),
      );
    const errors: unknown[] = [];
    for (let round = 0; round < 15; round += 1) {
      const mixed = batch(round);
      await Promise.all(
        [
          scene.pipeline.ended(...mixed.slice(0, 8)),
          second(...mixed.slice(4).reverse()),
          scene.pipeline.sentTogether(
            mixed
              .map(({ session_id }) => ({
                session_id,
                turn_index: Math.max(0, round - 1),
                scores: [
                  { metric: 'outcome_correct', value: 1 },
                  { metric: 'task_completion', value: 0.5 },
                ],
              }))
              .reverse(),
          ),
          scene.pipeline.askedTogether(
            mixed.map(({ session_id }) => ({ session_id: String(session_id), turn_index: Math.max(0, round - 1), tier: 2 })),
          ),
          ...desks.map((desk) => desk.once('judge', 6)),
          scene.query('UPDATE scoring.tier_waits SET until = now() WHERE (t % 3) = 0').then(() => one.store.answerDue()),
          two.store.expire(),
        ].map((work) => (work as Promise<unknown>).catch((error: unknown) => errors.push(error))),
      );
      await scene.query('UPDATE scoring.provider_blocks SET probe_at = now()');
    }
    expect(errors).toEqual([]);
    for (let left = 200; left > 0 && (await scene.jobs()) > 0; left -= 1) {
      await scene.later();
      for (const desk of desks) await desk.once('judge');
    }
    expect(await scene.jobs()).toBe(0);
    expect(await scene.query(`SELECT 1 FROM scoring.scores WHERE status = 'pending'`)).toEqual([]);
    expect(await scene.query('SELECT 1 FROM scoring.tier_waits')).toEqual([]);
    // Every number of every answer, once.
    const numbers = new Map<string, number[]>();
    for (const { session_id, turn_index, tier, answer } of scene.answers()) {
      const key = `${String(session_id)}|${String(turn_index)}|${String(tier)}`;
      numbers.set(key, [...(numbers.get(key) ?? []), Number(answer)]);
    }
    for (const [key, given] of numbers)
      expect([key, given.sort((a, b) => a - b)]).toEqual([key, given.map((_, index) => index + 1)]);
    const [{ deadlocks } = { deadlocks: -1 }] = await scene.query<{ deadlocks: number }>(
      'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
    );
    expect(deadlocks).toBe(0);
  });
});

describe('results of one project', () => {
  it('wait for each other only where its spending is counted, when all else is done', async () => {
    scene = await Scene.open();
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0));
    await scene.query(
      `INSERT INTO scoring.spend (project, day, cost_usd) VALUES ('default', (now() AT TIME ZONE 'utc')::date, 0)`,
    );
    const other = await scene.desk();
    let release = (): void => undefined;
    const counting = other.work.run(async (tx) => {
      await tx.query('UPDATE scoring.spend SET cost_usd = 1');
      await new Promise<void>((resolve) => (release = resolve));
    });
    const saving = desk.all('judge');
    // Tiers are settled by an update of the turn's row.
    const settled = (): Promise<unknown[]> =>
      scene.query(
        `SELECT 1 FROM pg_locks w JOIN pg_locks h USING (pid) WHERE NOT w.granted AND h.granted AND h.mode = 'RowExclusiveLock'
         AND h.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND h.relation = 'scoring.turns'::regclass`,
      );
    await eventually(async () => (await settled()).length > 0);
    release();
    await Promise.all([counting, saving]);
    expect(scene.answers()).toHaveLength(1);
  });
});

describe('leases that are kept while jobs expire', () => {
  it('never wait for each other in a circle', async () => {
    scene = await Scene.open();
    const [desk, other] = [await scene.desk(), await scene.desk()];
    await scene.pipeline.ended(...Array.from({ length: 60 }, (_, index) => turn(index)));
    const held = (await desk.take('judge', 60)).map(({ job }) => job);
    await scene.query(`UPDATE scoring.score_jobs SET expires_at = now()`);
    // Both run into a job in the middle: what each holds by then lies on the same side of it.
    let release = (): void => undefined;
    const holding = other.work.run(async (tx) => {
      await tx.query(`SELECT 1 FROM scoring.score_jobs WHERE lane = 'judge' AND t = 30 FOR UPDATE`);
      await new Promise<void>((resolve) => (release = resolve));
    });
    const waiting = async (): Promise<number> => {
      const [row] = await scene.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return row?.n ?? 0;
    };
    // A circle is broken by the database, and one of the two is run again.
    let runs = 0;
    const work: Pick<UnitOfWork, 'run'> = {
      run: (body) =>
        desk.work.run((tx) => {
          runs += 1;
          return body(tx);
        }),
    };
    const store = new JobStore(work as UnitOfWork);
    const renewing = store.renew([...held].reverse());
    await eventually(async () => (await waiting()) === 1);
    const expiring = store.expire();
    await eventually(async () => (await waiting()) === 2);
    release();
    await Promise.all([holding, renewing, expiring]);
    expect(runs).toBe(2);
    expect(await scene.jobs()).toBe(0);
  });
});

describe('the time-outs of every second', () => {
  it('answer what is due and give up what is over, in any number, and know the verifiers', async () => {
    scene = await Scene.open({ report_wait_s: 0 });
    const desk = await scene.desk();
    const wait = desk.everySecond;
    await scene.pipeline.ended(...Array.from({ length: 200 }, (_, index) => turn(index)));
    await scene.query(
      `INSERT INTO scoring.verifiers (project, answered_at) VALUES ('default', now()), ('long gone', now() - interval '8 days')`,
    );
    await wait.tick();
    expect(scene.answers()).toHaveLength(200);
    expect(['default', 'long gone'].map((project) => scene.pipeline.verifiers.isKnown(project))).toEqual([true, false]);
    await scene.query(`UPDATE scoring.score_jobs SET expires_at = now()`);
    await wait.tick();
    expect(await scene.jobs()).toBe(0);
    expect(scene.answers()).toHaveLength(400);
    await wait.onApplicationBootstrap();
    await scene.pipeline.ended(turn(300));
    await eventually(() => scene.answers().length === 401);
    await wait.onApplicationShutdown();
  });

  it('answer the others where one turn cannot be read', async () => {
    scene = await Scene.open({ report_wait_s: 0 });
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0), turn(1));
    await scene.query(`UPDATE scoring.turn_bodies SET body = '{"cut' WHERE t = 0`);
    expect(await desk.store.answerDue()).toBe(2);
    expect(scene.answers().map(({ turn_index, signals }) => [turn_index, signals])).toEqual([
      [0, []],
      [1, []],
    ]);
  });
});

describe('what a model does not take', () => {
  it('is learned by one process and known to all, for a week', async () => {
    scene = await Scene.open({}, ({ body }) => {
      const format = (body['response_format'] as { type?: string } | undefined)?.type;
      if (format === 'json_schema')
        return status(400, {
          error: { message: `response_format.type 'json_schema' is not supported`, param: 'response_format' },
        });
      return answerJson({ task: 'find', outcome: 'found', verdict: 0.6, reason: 'yes' });
    });
    const [one, two] = [await scene.desk(), await scene.desk()];
    let seen = 0;
    const formats = (): unknown[] => {
      const fresh = scene.models.requests.slice(seen);
      seen = scene.models.requests.length;
      return fresh.map(({ body }) => (body['response_format'] as { type?: string } | undefined)?.type);
    };
    await scene.pipeline.ended(turn(0));
    await one.all('judge');
    expect(formats()[0]).toBe('json_schema');
    await scene.pipeline.ended(turn(1));
    await two.all('judge');
    expect(formats()).not.toContain('json_schema');
    const memory = new StoredCapabilities(two.work, 'scoring');
    expect(await memory.recall(scene.models.url, 'gpt-4o-mini')).not.toEqual({});
    await scene.query(`UPDATE scoring.model_capabilities SET at = now() - interval '8 days'`);
    const later = await scene.desk();
    await scene.pipeline.ended(turn(2));
    await later.all('judge');
    expect(formats()[0]).toBe('json_schema');
    // What was believed a week ago is not kept beside what is learned now.
    await scene.query(`UPDATE scoring.model_capabilities SET at = now() - interval '8 days', doc = '{"tools": false}'`);
    await new StoredCapabilities(later.work, 'scoring').learn(scene.models.url, 'gpt-4o-mini', { temperature: false });
    expect(await scene.query('SELECT doc FROM scoring.model_capabilities')).toEqual([{ doc: { temperature: false } }]);
  });
});
