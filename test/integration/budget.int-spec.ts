import { afterEach, describe, expect, it } from '@jest/globals';
import { answerJson, type Reply } from '#testing';
import pLimit from 'p-limit';
import type { LoadedJob } from '../../services/scoring/src/postgres/job-store.js';
import { projectSettings } from '#contracts';
import { priceTable } from '#llm';
import { costOfOne } from '../../services/scoring/src/jobs/cost-limits.js';
import { saying, Scene, trace, turn } from './scene.js';

let scene: Scene;
afterEach(() => scene.close());

/** What one value of gpt-4o-mini may cost at most: five calls. */
const VALUE = costOfOne('judge', projectSettings.parse({ judge_model: 'gpt-4o-mini' }), priceTable()) ?? NaN;
const turns = (from: number, to: number): object[] => Array.from({ length: to - from }, (_, index) => turn(from + index));
/** A judge whose value, which takes two calls, costs exactly what is reserved for it. */
const dear = () =>
  answerJson(
    { task: 'find it', outcome: 'found', verdict: 0.8, reason: 'yes' },
    { usage: { prompt_tokens: Math.round((VALUE / 2 / 0.15) * 1e6), completion_tokens: 0 } },
  );
const spentUsd = async (): Promise<number> => {
  const [row] = await scene.query<{ usd: number }>(
    `SELECT coalesce(sum(cost_usd), 0) AS usd FROM scoring.spend WHERE day = (now() AT TIME ZONE 'utc')::date`,
  );
  return row?.usd ?? -1;
};
const skips = () => scene.answers().filter(({ skipped }) => skipped !== null);

describe('a budget of cost', () => {
  it('is never overspent by several workers at once, and what is left waits', async () => {
    scene = await Scene.open({ max_cost_usd: 10 * VALUE }, dear);
    const desks = [await scene.desk(), await scene.desk(), await scene.desk()];
    await scene.pipeline.ended(...Array.from({ length: 40 }, (_, index) => turn(0, { session_id: `s${index}` })));
    const most = async (): Promise<number> => {
      const [row] = await scene.query<{ usd: number }>(
        `SELECT (SELECT coalesce(sum(reserved_usd), 0) FROM scoring.score_jobs WHERE leased_until > now()) + coalesce((SELECT sum(cost_usd) FROM scoring.spend), 0) AS usd`,
      );
      return row?.usd ?? -1;
    };
    for (let round = 0; round < 6; round += 1) {
      const taken = await Promise.all(desks.map((desk) => desk.take('judge', 4)));
      expect(await most()).toBeLessThanOrEqual(10 * VALUE + 1e-9);
      await Promise.all(desks.map((desk, index) => desk.run('judge', taken[index] ?? [])));
      expect(await spentUsd()).toBeLessThanOrEqual(10 * VALUE + 1e-9);
    }
    expect(await scene.query(`SELECT count(*)::int AS n FROM scoring.scores WHERE status = 'scored'`)).toEqual([{ n: 10 }]);
    expect(await scene.jobs()).toBe(30);
    expect(await scene.query('SELECT 1 FROM scoring.score_jobs WHERE reserved_usd > 0')).toEqual([]);
  });

  it('that is spent skips turns, journaled once and then counted; the next day goes on, with what waits', async () => {
    scene = await Scene.open({ max_cost_usd: 2.5 * VALUE }, dear);
    scene.pipeline.valueUsd = VALUE;
    const desk = await scene.desk();
    await scene.pipeline.ended(...turns(0, 3));
    await desk.all('judge');
    expect(scene.answers()).toHaveLength(2);
    expect(await scene.jobs()).toBe(1);
    await scene.pipeline.ended(...turns(3, 5));
    await scene.pipeline.ended(...turns(5, 7));
    expect(skips().map(({ turn_index, skipped, scores, pending }) => [turn_index, skipped, scores, pending])).toEqual(
      [3, 4, 5, 6].map((index) => [index, 'budget', [], false]),
    );
    expect(await scene.journal()).toEqual(['turn_skipped']);
    expect(await scene.query('SELECT skipped FROM scoring.budgets')).toEqual([{ skipped: 4 }]);
    await scene.query(`UPDATE scoring.spend SET day = day - 1`);
    await scene.query(`UPDATE journal.events SET id = id || ' of yesterday'`);
    expect(await desk.all('judge')).toBe(1);
    await scene.pipeline.ended(turn(7));
    expect(skips()).toHaveLength(4);
    expect(await desk.all('judge')).toBe(1);
    // And so does the day after, which is said again.
    await scene.pipeline.ended(turn(8));
    expect(skips()).toHaveLength(5);
    expect(await scene.journal()).toEqual(['turn_skipped', 'turn_skipped']);
  });

  it('that cannot pay one value skips turns, instead of letting them wait for a judge in vain', async () => {
    scene = await Scene.open({ max_cost_usd: 0.001 });
    const desk = await scene.desk();
    scene.pipeline.valueUsd = desk.lanes.dearestValueUsd(await desk.settings.of('default'));
    expect(scene.pipeline.valueUsd).toBeCloseTo(VALUE, 12);
    await scene.pipeline.ended(turn(0));
    expect(skips()).toMatchObject([{ skipped: 'budget' }]);
    expect(await scene.query('SELECT doc FROM journal.events')).toMatchObject([
      { doc: { note: expect.stringContaining('max_cost_usd') } },
    ]);
  });

  it("that is spent stops what an earlier model of a price has still to do, whatever today's model is", async () => {
    scene = await Scene.open({ max_cost_usd: 1.5 * VALUE }, dear);
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0), turn(1), turn(2));
    await desk.once('judge', 1);
    await scene.settings('default', 2, { judge_model: null, max_cost_usd: 0.9 * VALUE });
    const later = await scene.desk();
    expect(await later.all('judge')).toBe(0);
    expect(await spentUsd()).toBeCloseTo(VALUE, 9);
  });

  it('reserves by the model that a job waits for, whichever is set by now, and takes none that it has not priced', async () => {
    scene = await Scene.open({ max_cost_usd: 1, judge_model: 'gpt-4o' });
    await scene.pipeline.ended(turn(0), turn(1));
    const dearer = costOfOne('judge', projectSettings.parse({ judge_model: 'gpt-4o' }), priceTable()) ?? NaN;
    for (const [version, judge_model] of [
      [2, 'gpt-4o-mini'],
      [3, null],
    ] as const) {
      await scene.settings('default', version, { judge_model, max_cost_usd: 1 });
      expect(await (await scene.desk()).take('judge', 1)).toHaveLength(1);
    }
    const reserved = await scene.query<{ usd: number }>(
      'SELECT reserved_usd AS usd FROM scoring.score_jobs WHERE lease IS NOT NULL',
    );
    expect(reserved.map(({ usd }) => usd)).toEqual([expect.closeTo(dearer, 12), expect.closeTo(dearer, 12)]);
    await scene.query('UPDATE scoring.score_jobs SET lease = NULL, leased_until = NULL, reserved_usd = 0');
    const desk = await scene.desk();
    const claim = { lane: 'judge', most: 4, lease: '00000000-0000-4000-8000-000000000000' } as const;
    const limit = { project: 'default', maxUsd: 1, reserveUsd: {} };
    expect(await desk.store.claim({ ...claim, limits: [limit] })).toEqual([]);
    expect(await desk.store.claim({ ...claim, limits: [{ ...limit, reserveUsd: { 'judge:gpt-4o': 0 } }] })).toHaveLength(2);
  });

  it('that cannot pay a value of a dear model pays for those of a cheap one', async () => {
    scene = await Scene.open({ max_cost_usd: 3 * VALUE, judge_model: 'gpt-4o' }, dear);
    await scene.pipeline.ended(turn(0), turn(1), turn(2));
    await scene.settings('default', 2, {
      judge_model: 'gpt-4o-mini',
      tier1_metrics: ['task_completion'],
      max_cost_usd: 3 * VALUE,
    });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await scene.pipeline.ended(...turns(3, 8));
    const desk = await scene.desk();
    await desk.all('judge');
    expect(await scene.query(`SELECT t FROM scoring.scores WHERE status = 'scored' ORDER BY t`)).toEqual(
      [3, 4, 5].map((t) => ({ t })),
    );
    expect(await spentUsd()).toBeCloseTo(3 * VALUE, 9);
  });

  it('is looked at before each value, for one may cost more than was reserved for it', async () => {
    const thrice = (): Reply =>
      answerJson(
        { task: 'find it', outcome: 'found', verdict: 0.8, reason: 'yes' },
        { usage: { prompt_tokens: Math.round(((3 * VALUE) / 2 / 0.15) * 1e6), completion_tokens: 0 } },
      );
    scene = await Scene.open({ max_cost_usd: 8 * VALUE }, thrice);
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0, { traces: Array.from({ length: 10 }, (_, index) => trace(`t${index}`)) }));
    const one = pLimit(1);
    const [job] = await desk.take('judge');
    expect(job?.wanted).toHaveLength(8);
    await desk.tasks.judge.run(job as LoadedJob, (evaluation) => one(evaluation), desk.abort.signal);
    expect(await scene.query(`SELECT count(*)::int AS n FROM scoring.scores WHERE status = 'scored'`)).toEqual([{ n: 3 }]);
    expect(await spentUsd()).toBeCloseTo(9 * VALUE, 6);
    expect(await desk.all('judge')).toBe(0);
    // The next day pays for the rest, as far as it goes.
    await scene.query(`UPDATE scoring.spend SET day = day - 1`);
    expect(await desk.once('judge')).toBe(1);
  });

  it('reserves for the values that a claim takes on, not for the whole turn', async () => {
    scene = await Scene.open({ max_cost_usd: 20 * VALUE });
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0, { traces: Array.from({ length: 40 }, (_, index) => trace(`t${index}`)) }));
    expect(await desk.once('judge')).toBe(1);
    expect(await scene.query(`SELECT count(*)::int AS n FROM scoring.scores WHERE status = 'scored'`)).toEqual([{ n: 16 }]);
  });

  it('makes as many values of a turn as it can pay', async () => {
    scene = await Scene.open({ max_cost_usd: 5.5 * VALUE }, dear);
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0, { traces: Array.from({ length: 40 }, (_, index) => trace(`t${index}`)) }));
    await desk.all('judge');
    expect(await scene.query(`SELECT count(*)::int AS n FROM scoring.scores WHERE status = 'scored'`)).toEqual([{ n: 5 }]);
  });

  it('does not bind a project without one', async () => {
    scene = await Scene.open({ max_cost_usd: VALUE / 2 });
    await scene.project('other', { judge_model: 'gpt-4o-mini', tier1_metrics: ['task_completion'] });
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0));
    scene.pipeline.project = 'other';
    await scene.pipeline.ended(turn(0), turn(1));
    expect(await desk.all('judge')).toBe(2);
  });

  it("takes a dead worker's reservation back when its lease is over", async () => {
    scene = await Scene.open({ max_cost_usd: 1.5 * VALUE });
    const [dead, alive] = [await scene.desk(), await scene.desk()];
    await scene.pipeline.ended(turn(0), turn(1));
    expect(await dead.take('judge')).toHaveLength(1);
    expect(await alive.once('judge')).toBe(0);
    await scene.query(`UPDATE scoring.score_jobs SET leased_until = now() - interval '1 second' WHERE lease IS NOT NULL`);
    expect(await alive.once('judge')).toBe(1);
  });
});

describe('the ledger', () => {
  it('is kept by project, day, metric, tier, model and session, to the cent of a cent', async () => {
    scene = await Scene.open({ tier1_metrics: ['task_completion', 'confidence'] }, () => saying(0.8));
    await scene.project('other', { judge_model: 'gpt-4o', tier1_metrics: ['confidence'] });
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0), turn(1), turn(0, { session_id: 'z' }));
    scene.pipeline.project = 'other';
    await scene.pipeline.ended(turn(0));
    await desk.all('judge');
    const rows = await scene.query(
      'SELECT project, metric, model, count(*)::int AS sessions, sum(evals)::int AS evals, sum(calls)::int AS calls, sum(cost_usd) AS usd FROM scoring.usage GROUP BY 1, 2, 3 ORDER BY 1, 2',
    );
    const one = (input: number, output: number): number => (12 * input + 7 * output) / 1e6;
    expect(rows).toEqual([
      {
        project: 'default',
        metric: 'confidence',
        model: 'gpt-4o-mini',
        sessions: 2,
        evals: 3,
        calls: 3,
        usd: expect.closeTo(3 * one(0.15, 0.6), 12),
      },
      {
        project: 'default',
        metric: 'task_completion',
        model: 'gpt-4o-mini',
        sessions: 2,
        evals: 3,
        calls: 6,
        usd: expect.closeTo(6 * one(0.15, 0.6), 12),
      },
      {
        project: 'other',
        metric: 'confidence',
        model: 'gpt-4o',
        sessions: 1,
        evals: 1,
        calls: 1,
        usd: expect.closeTo(one(2.5, 10), 12),
      },
    ]);
  });
});
