import { afterEach, describe, expect, it } from '@jest/globals';
import { claimJobs, type Claim } from '../../services/scoring/src/postgres/job-claims.js';
import { insertJobs, type NewJob } from '../../services/scoring/src/postgres/job-rows.js';
import { expireJobs } from '../../services/scoring/src/postgres/job-expiry.js';
import { answerDue } from '../../services/scoring/src/postgres/settle-tiers.js';
import { sessionKey } from '#domain/ids';
import { randomUUID } from 'node:crypto';
import { Scene, turn } from './scene.js';

let scene: Scene;
afterEach(() => scene.close());

const PROVIDER = 'judge:gpt-4o-mini';
const job = (session: string, t: number, more: Partial<NewJob> = {}): NewJob => ({
  ...{
    s: sessionKey('default', session),
    t,
    tier: 1,
    provider: PROVIDER,
    lane: 'judge',
    project: 'default',
    evals: 1,
    retryS: 3_600,
  },
  ...more,
});
const many = (n: number, session: string, more: Partial<NewJob> = {}): NewJob[] =>
  Array.from({ length: n }, (_, t) => job(session, t, more));
const insert = (...jobs: NewJob[]): Promise<boolean> => scene.pipeline.scoringWork.run((tx) => insertJobs(tx, jobs));
const claim = (most: number, more: Partial<Claim> = {}): ReturnType<typeof claimJobs> =>
  scene.pipeline.scoringWork.run((tx) => claimJobs(tx, { lane: 'judge', most, lease: randomUUID(), limits: [], ...more }));
const done = (jobs: Awaited<ReturnType<typeof claim>>): Promise<unknown> =>
  scene.query(
    'DELETE FROM scoring.score_jobs j USING json_to_recordset($1::json) AS k(s uuid, t bigint) WHERE j.s = k.s AND j.t = k.t',
    [JSON.stringify(jobs.map(({ s, t }) => ({ s, t })))],
  );
/** Rows that statements of this transaction have read of a table. */
const rowsRead = async (table: string, work: Parameters<typeof scene.pipeline.scoringWork.run>[0]): Promise<number> =>
  scene.pipeline.scoringWork.run(async (tx) => {
    await work(tx);
    const [row] = await tx.query<{ n: number }>(
      'SELECT (seq_tup_read + idx_tup_fetch)::int AS n FROM pg_stat_xact_user_tables WHERE relname = $1',
      [table],
    );
    return row?.n ?? -1;
  });

describe('jobs of several projects', () => {
  it('are taken in turn, however many one of them has', async () => {
    scene = await Scene.open();
    await insert(...many(500, 'busy'));
    await insert(...many(1, 'quiet', { project: 'other' }));
    const projects = (await claim(4)).map(({ project }) => project);
    expect(projects.sort()).toEqual(['default', 'default', 'default', 'other']);
  });

  it('are taken in turn over the providers of a project too', async () => {
    scene = await Scene.open();
    await insert(...many(50, 'busy'));
    await insert(job('busy', 0, { provider: 'judge:gpt-4o' }));
    const providers = (await claim(2)).map(({ provider }) => provider);
    expect(providers.sort()).toEqual(['judge:gpt-4o', PROVIDER]);
  });
});

describe('a worker that holds jobs already', () => {
  it('takes those of others first, and no more of a project that holds its share', async () => {
    scene = await Scene.open();
    await insert(...many(20, 'busy'), ...many(2, 'quiet', { project: 'other' }));
    const projects = async (most: number, held: [string, number][], share: number | null): Promise<string[]> =>
      (await claim(most, { held: new Map(held), share })).map(({ project }) => project).sort();
    expect(await projects(1, [['default', 3]], null)).toEqual(['other']);
    expect(await projects(3, [['default', 4]], 4)).toEqual(['other']);
    expect(await projects(3, [['default', 4]], 4)).toEqual([]);
    expect(await projects(8, [['default', 2]], 4)).toEqual(['default', 'default']);
    expect(await projects(2, [['default', 4]], null)).toEqual(['default', 'default']);
  });

  it('counts values, not jobs: one turn of many traces is all of a share', async () => {
    scene = await Scene.open();
    await insert(...many(5, 'busy', { evals: 40 }));
    expect(await claim(4, { held: new Map(), share: 4 })).toHaveLength(1);
    expect(await claim(4, { held: new Map(), share: null })).toHaveLength(4);
  });
});

describe('jobs of several sessions', () => {
  it('are taken in turn: one with a single job is next, however many another one has, and whenever it comes', async () => {
    scene = await Scene.open();
    await insert(...many(500, 'busy'));
    await done(await claim(100));
    await insert(job('quiet', 0));
    const sessions = (await claim(2)).map(({ s }) => s);
    expect(sessions.sort()).toEqual([sessionKey('default', 'busy'), sessionKey('default', 'quiet')].sort());
  });

  it('are taken by age within a round, so that none is passed over for ever by those that come after it', async () => {
    scene = await Scene.open();
    const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
    for (const name of names) await insert(job(name, 0));
    const order: string[] = [];
    for (let left = names.length; left > 0; left -= 1) {
      const taken = await claim(1);
      order.push(...taken.map(({ s }) => s));
      await done(taken);
      if (left > 10) await insert(job(`late${left}`, 0));
    }
    expect(order).toEqual(names.map((name) => sessionKey('default', name)));
  });

  it('keep the order of their turns', async () => {
    scene = await Scene.open();
    await insert(job('a', 2), job('a', 0), job('a', 1));
    const order: number[] = [];
    for (let left = 3; left > 0; left -= 1) {
      const taken = await claim(1);
      order.push(...taken.map(({ t }) => t));
      await done(taken);
    }
    expect(order).toEqual([0, 1, 2]);
  });
});

describe('several workers', () => {
  it('never hold the same job, and leave none', async () => {
    scene = await Scene.open();
    await insert(...Array.from({ length: 60 }, (_, index) => job(`s${index % 7}`, index)));
    const claims = await Promise.all(Array.from({ length: 12 }, () => claim(8)));
    const rest = [await claim(60), await claim(60)].flat();
    const keys = [...claims.flat(), ...rest].map(({ s, t }) => `${s}|${t}`);
    expect(keys).toHaveLength(60);
    expect(new Set(keys).size).toBe(60);
  });
});

describe('twenty thousand open jobs', () => {
  const crowd = async (): Promise<void> => {
    scene = await Scene.open();
    await scene.query(
      `INSERT INTO scoring.score_jobs (s, t, tier, provider, lane, project, round, evals, expires_at)
       SELECT md5((n % 500)::text)::uuid, n, 1, $1, 'judge', CASE WHEN n % 10 = 0 THEN 'other' ELSE 'default' END, n / 500, 1, now() + interval '1 day'
       FROM generate_series(1, 20000) n`,
      [PROVIDER],
    );
    await scene.query('ANALYZE scoring.score_jobs');
  };

  it('cost a claim no more than a few', async () => {
    await crowd();
    expect(
      await rowsRead('score_jobs', (tx) => claimJobs(tx, { lane: 'judge', most: 5, lease: randomUUID(), limits: [] })),
    ).toBeLessThan(100);
  });

  it('cost no more while their provider is blocked', async () => {
    await crowd();
    await scene.query(
      `INSERT INTO scoring.provider_blocks (project, provider, code, detail, probe_at) VALUES ('default', $1, 'auth', '', now() + interval '1 hour')`,
      [PROVIDER],
    );
    const read = await rowsRead('score_jobs', async (tx) => {
      const taken = await claimJobs(tx, { lane: 'judge', most: 5, lease: randomUUID(), limits: [] });
      expect(taken.map(({ project }) => project)).toEqual(Array(5).fill('other'));
    });
    expect(read).toBeLessThan(100);
  });

  it('cost no more under a limit of cost', async () => {
    await crowd();
    await claim(50);
    const limits = ['default', 'other', 'idle'].map((project) => ({ project, maxUsd: 1, reserveUsd: { [PROVIDER]: 0.01 } }));
    const read = await rowsRead('score_jobs', (tx) => claimJobs(tx, { lane: 'judge', most: 5, lease: randomUUID(), limits }));
    expect(read).toBeLessThan(500);
    expect(await scene.query('SELECT project FROM scoring.budgets ORDER BY project')).toEqual([
      { project: 'default' },
      { project: 'other' },
    ]);
  });

  it('cost a new one, the end of their time and a look for overdue answers no more', async () => {
    await crowd();
    const busy = [{ ...job('x', 1), s: 'c4ca4238-a0b9-2382-0dcc-509a6f75849b' }];
    expect(await rowsRead('score_jobs', (tx) => insertJobs(tx, busy))).toBeLessThan(20);
    expect(await rowsRead('score_jobs', (tx) => expireJobs(tx, 64))).toBeLessThan(20);
    expect(await rowsRead('score_jobs', (tx) => answerDue(tx, 64))).toBeLessThan(20);
  });

  it("that nobody can do are in nobody's way", async () => {
    scene = await Scene.open({ judge_model: null, evaluators: { task_completion: 'judge' } });
    await scene.pipeline.ended(turn(0));
    await scene.query(
      `INSERT INTO scoring.score_jobs (s, t, tier, provider, lane, project, round, evals, expires_at)
       SELECT s, n, tier, provider, lane, project, n, 1, expires_at FROM scoring.score_jobs, generate_series(1, 20000) n WHERE tier = 1`,
    );
    await scene.query('ANALYZE scoring.score_jobs');
    const desk = await scene.desk();
    expect(await desk.store.hasWork('judge')).toBe(false);
    expect(
      await rowsRead('score_jobs', (tx) => claimJobs(tx, { lane: 'judge', most: 5, lease: randomUUID(), limits: [] })),
    ).toBeLessThan(20);
  });
});
