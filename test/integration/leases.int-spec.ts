import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '#testing';
import { LaneWorker } from '../../services/scoring/src/jobs/lane-worker.js';
import { saying, Scene, trace, turn } from './scene.js';

let scene: Scene;
afterEach(() => scene.close());

const over = (): Promise<unknown> =>
  scene.query(`UPDATE scoring.score_jobs SET leased_until = now() - interval '1 second' WHERE lease IS NOT NULL`);
const calls = async (): Promise<number> => {
  const [row] = await scene.query<{ n: number }>('SELECT coalesce(sum(calls), 0)::int AS n FROM scoring.usage');
  return row?.n ?? -1;
};
const expired = (): Promise<unknown> => scene.query('UPDATE scoring.score_jobs SET expires_at = now()');

describe('a worker that dies with a job', () => {
  it('is replaced when its lease is over; what it says later changes nothing but the ledger', async () => {
    scene = await Scene.open({}, ({ index }) => saying(index < 2 ? 0.1 : 0.9));
    const [dead, alive] = [await scene.desk(), await scene.desk()];
    await scene.pipeline.ended(turn(0));
    const held = await dead.take('judge');
    expect(held).toHaveLength(1);
    expect(await alive.once('judge')).toBe(0);
    await over();
    const taken = await alive.take('judge');
    expect(taken).toHaveLength(1);
    // The dead one was only slow: its result comes before that of whoever took over.
    await dead.run('judge', held);
    expect(scene.answers()).toEqual([]);
    expect(await calls()).toBe(2);
    await alive.run('judge', taken);
    expect(scene.answers()).toMatchObject([{ answer: 1, scores: [{ value: 0.9 }] }]);
    expect(await calls()).toBe(4);
    await dead.run('judge', held);
    expect(scene.answers()).toHaveLength(1);
    expect(await scene.query('SELECT value FROM scoring.scores')).toEqual([{ value: 0.9 }]);
    expect(await scene.jobs()).toBe(0);
  });

  it('does not lift or set a block when it comes back', async () => {
    scene = await Scene.open();
    const [dead, alive] = [await scene.desk(), await scene.desk()];
    await scene.pipeline.ended(turn(0));
    const held = await dead.take('judge');
    await over();
    await alive.all('judge');
    scene.models.script([]);
    await dead.run('judge', held);
    expect(await scene.query('SELECT 1 FROM scoring.provider_blocks')).toEqual([]);
  });
});

describe('a job whose workers die', () => {
  it('is given up after five of them: failed, journaled, answered', async () => {
    scene = await Scene.open({ gate_window: 1, gate_target: 0.9 });
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0), turn(1));
    for (let deaths = 0; deaths < 5; deaths += 1) {
      expect(await desk.take('judge', 1)).toMatchObject([{ job: { t: 0, claims: deaths + 1 } }]);
      await over();
    }
    await desk.all('judge');
    expect(scene.answers()).toMatchObject([
      { turn_index: 0, answer: 1, pending: false, scores: [{ status: 'failed', code: 'evaluator_crashed', value: null }] },
      { turn_index: 1, scores: [{ status: 'scored' }] },
    ]);
    expect(await scene.query('SELECT type, t, doc FROM journal.events')).toMatchObject([
      { type: 'score_failed', t: 0, doc: { code: 'evaluator_crashed', provider: 'judge:gpt-4o-mini' } },
    ]);
    expect(scene.models.requests).toHaveLength(2);
    expect(await scene.jobs()).toBe(0);
  });

  it('is not counted among them when it was given back in order', async () => {
    scene = await Scene.open();
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0));
    desk.abort.abort();
    for (let stops = 0; stops < 7; stops += 1) expect(await desk.once('judge')).toBe(1);
    expect(await scene.query(`SELECT claims, lease, attempts FROM scoring.score_jobs WHERE lane = 'judge'`)).toEqual([
      { claims: 0, lease: null, attempts: 0 },
    ]);
    expect(scene.models.requests).toEqual([]);
  });
});

describe('a job whose turn cannot be read', () => {
  it('is given up, and does not keep the others or its own time-out', async () => {
    scene = await Scene.open();
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0), turn(1), turn(2));
    await scene.query(`UPDATE scoring.turn_bodies SET body = '{"cut' WHERE t = 1`);
    await scene.query(`DELETE FROM scoring.turn_bodies WHERE t = 2`);
    await desk.all('judge');
    expect(
      scene
        .answers()
        .map(({ turn_index, scores }) => [turn_index, (scores as { code: string | null }[])[0]?.code])
        .sort(),
    ).toEqual([
      [0, null],
      [1, 'unreadable'],
      [2, 'unreadable'],
    ]);
    expect(await scene.jobs()).toBe(0);
  });
});

describe('a value that cannot be had for a day', () => {
  it('has failed: journaled, answered once more, neither a value nor a breach', async () => {
    scene = await Scene.open({ score_retry_h: 1, tier2_metrics: ['tool_correctness'], gate_target: 1, gate_window: 1 });
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0), turn(1));
    const [{ h } = { h: 0 }] = await scene.query<{ h: number }>(
      `SELECT extract(epoch FROM expires_at - now())::float8 / 3600 AS h FROM scoring.score_jobs WHERE lane = 'judge' LIMIT 1`,
    );
    expect(h).toBeGreaterThan(0.95);
    expect(h).toBeLessThanOrEqual(1);
    await scene.query('UPDATE scoring.tier_waits SET until = now()');
    await desk.store.answerDue();
    expect(await desk.store.expire()).toBe(0);
    await scene.query(`UPDATE scoring.score_jobs SET expires_at = now(), last_error = 'no credit' WHERE t = 0`);
    expect(await desk.store.expire()).toBe(2);
    expect(scene.answers().filter(({ turn_index }) => turn_index === 0)).toMatchObject([
      { answer: 1, pending: true },
      { answer: 2, pending: false, scores: [{ status: 'failed', code: 'expired', value: null, reason: 'no credit' }] },
    ]);
    await scene.pipeline.settle();
    expect(await scene.query(`SELECT t FROM gating.turn_evals WHERE fired <> '{}' OR standing <> '{}'`)).toEqual([]);
    expect(
      await scene.query(`SELECT t, doc->>'code' AS code, doc->>'error' AS error FROM journal.events WHERE doc->>'tier' = '1'`),
    ).toEqual([{ t: 0, code: 'expired', error: 'no credit' }]);
    await desk.all('judge');
    expect(await scene.query('SELECT t, status FROM scoring.scores ORDER BY t')).toEqual([
      { t: 0, status: 'failed' },
      { t: 1, status: 'scored' },
    ]);
  });

  it('is given up in the hands of a worker too, whose result comes too late', async () => {
    scene = await Scene.open();
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0));
    const held = await desk.take('judge');
    await expired();
    await desk.store.expire();
    await desk.run('judge', held);
    expect(scene.answers()).toMatchObject([{ answer: 1, scores: [{ status: 'failed', code: 'expired' }] }]);
    expect(await calls()).toBe(2);
  });

  it('is journaled for a verifier that never answered', async () => {
    scene = await Scene.open({ judge_model: null });
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0));
    await expired();
    expect(await desk.store.expire()).toBe(1);
    expect(await scene.query('SELECT type, t, doc FROM journal.events')).toMatchObject([
      { type: 'score_failed', t: 0, doc: { tier: 0, metric: 'outcome_correct', code: 'expired' } },
    ]);
    expect(scene.answers(0)).toEqual([]);
    expect(await scene.query('SELECT 1 FROM scoring.scores WHERE tier = 0')).toEqual([]);
  });

  it('comes in pages, however many there are', async () => {
    scene = await Scene.open();
    const desk = await scene.desk();
    await scene.pipeline.ended(...Array.from({ length: 150 }, (_, index) => turn(index)));
    await scene.query(`UPDATE scoring.tier_waits SET until = now()`);
    const due = [
      await desk.store.answerDue(),
      await desk.store.answerDue(),
      await desk.store.answerDue(),
      await desk.store.answerDue(),
    ];
    expect(due).toEqual([64, 64, 22, 0]);
    await scene.query(`DELETE FROM scoring.score_jobs WHERE lane = 'verifier'`);
    await expired();
    const gone = [await desk.store.expire(), await desk.store.expire(), await desk.store.expire(), await desk.store.expire()];
    expect(gone).toEqual([64, 64, 22, 0]);
    expect(scene.answers()).toHaveLength(300);
  });
});

describe('a lease', () => {
  it('is kept alive while its job is worked on, and only by who holds it', async () => {
    scene = await Scene.open();
    const [one, two] = [await scene.desk(), await scene.desk()];
    await scene.pipeline.ended(turn(0), turn(1));
    const [mine, theirs] = [await one.take('judge', 1), await two.take('judge', 1)];
    await over();
    await one.store.renew([...mine, ...theirs].map(({ job }) => ({ ...job, lease: mine[0]?.job.lease ?? '' })));
    expect(await scene.query(`SELECT t FROM scoring.score_jobs WHERE leased_until > now() + interval '50 seconds'`)).toEqual([
      { t: 0 },
    ]);
  });
});

describe('a worker of the service', () => {
  it('works off what there is, takes what comes, and gives back what it cannot finish when it stops', async () => {
    let hold = false;
    scene = await Scene.open({}, () => (hold ? () => undefined : saying(0.8)));
    const desk = await scene.desk();
    const errors: unknown[] = [];
    const worker = new LaneWorker(desk.store, {
      ...{ lane: 'judge', concurrency: 4, task: desk.tasks.judge, limits: () => desk.lanes.limitsOf('judge') },
      onError: (error) => errors.push(error),
    });
    await scene.pipeline.ended(...Array.from({ length: 30 }, (_, index) => turn(index)));
    worker.start();
    await eventually(() => scene.answers().length === 30);
    hold = true;
    await scene.pipeline.ended(...Array.from({ length: 10 }, (_, index) => turn(30 + index, { traces: [trace(`t${index}`)] })));
    worker.nudge();
    const asked = scene.models.requests.length;
    await eventually(() => scene.models.requests.length >= asked + 4);
    await worker.stop(10);
    expect(scene.answers()).toHaveLength(30);
    expect(errors).toEqual([]);
    expect(await scene.query(`SELECT 1 FROM scoring.score_jobs WHERE lease IS NOT NULL OR claims > 0 OR attempts > 0`)).toEqual(
      [],
    );
    expect(await scene.jobs()).toBe(10);
    expect(scene.models.mostAtOnce).toBeLessThanOrEqual(4);
    hold = false;
    await (await scene.desk()).all('judge');
    expect(scene.answers()).toHaveLength(40);
  });
});
