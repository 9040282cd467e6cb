import { afterEach, describe, expect, it } from '@jest/globals';
import { status, type Reply } from '#testing';
import type { ProcessSettings } from '#contracts';
import { saying, Scene, turn } from './scene.js';

let scene: Scene;
afterEach(() => scene.close());

const refusal = (code: string, message = code): object => ({ error: { message, code, type: code } });
const turns = (from: number, to: number): object[] => Array.from({ length: to - from }, (_, index) => turn(from + index));
const wellOnes = (): number => scene.answers().filter(({ pending }) => pending === false).length;
const blocks = (): Promise<Record<string, unknown>[]> =>
  scene.query('SELECT project, provider, code, probes FROM scoring.provider_blocks ORDER BY project, provider');
/** Seconds until the provider is tried again. */
const rest = async (): Promise<number> => {
  const [row] = await scene.query<{ s: number }>(
    'SELECT extract(epoch FROM probe_at - now())::float8 AS s FROM scoring.provider_blocks',
  );
  return row?.s ?? -1;
};
const judged = { judge_timeout_s: 5 } satisfies Partial<ProcessSettings>;

describe.each<[string, Reply, string]>([
  ['refuses the key', status(401, refusal('invalid_api_key')), 'auth'],
  ['does not know the model', status(404, refusal('model_not_found')), 'config'],
  ['has no credit left', status(429, refusal('insufficient_quota')), 'billing'],
  ['answers with a web page', status(200, '<html><body>log in</body></html>', { 'content-type': 'text/html' }), 'config'],
])('a provider that %s', (_, reply, code) => {
  it('is blocked: said once however many jobs and workers run into it, tried by one job, and resumed', async () => {
    scene = await Scene.open({}, () => reply);
    const [one, two] = [await scene.desk(judged), await scene.desk(judged)];
    await scene.pipeline.ended(...turns(0, 20));
    const [first, second] = [await one.take('judge', 4), await two.take('judge', 4)];
    expect([first.length, second.length]).toEqual([4, 4]);
    await Promise.all([one.run('judge', first), two.run('judge', second)]);
    expect(await blocks()).toEqual([{ project: 'default', provider: 'judge:gpt-4o-mini', code, probes: 0 }]);
    expect(await rest()).toBeGreaterThan(50);
    expect(await rest()).toBeLessThanOrEqual(60);
    const asked = scene.models.requests.length;
    expect(asked).toBe(8);
    expect([await one.all('judge'), await two.all('judge')]).toEqual([0, 0]);
    // Its time comes: one job of one worker tries, and the wait doubles.
    for (const wait of [120, 240]) {
      await scene.later();
      expect([await one.once('judge'), await two.once('judge')].sort()).toEqual([0, 1]);
      expect(await rest()).toBeGreaterThan(wait - 10);
      expect(await rest()).toBeLessThanOrEqual(wait);
    }
    expect(scene.models.requests).toHaveLength(asked + 2);
    expect(scene.health()).toMatchObject([
      { service: 'scoring', status: 'degraded', dependency: 'judge_blocked:default:judge:gpt-4o-mini' },
    ]);
    expect(await scene.journal()).toEqual(['judge_blocked']);
    scene.models.script(() => saying(0.8));
    await scene.later();
    expect(await one.all('judge')).toBe(20);
    expect(wellOnes()).toBe(20);
    expect(await blocks()).toEqual([]);
    expect(await scene.journal()).toEqual(['judge_blocked', 'judge_resumed']);
    expect(scene.health().map((event) => event['status'])).toEqual(['degraded', 'ok']);
    expect(await scene.jobs()).toBe(0);
  });
});

describe('a block', () => {
  it('holds for its project and its model only', async () => {
    scene = await Scene.open({}, ({ body }) => (body['model'] === 'gpt-4o-mini' && asked++ === 0 ? status(401) : saying(0.8)));
    let asked = 0;
    await scene.project('other', { judge_model: 'gpt-4o-mini', tier1_metrics: ['task_completion'] });
    const desk = await scene.desk(judged);
    await scene.pipeline.ended(turn(0), turn(1));
    await desk.once('judge', 1);
    await scene.settings('default', 2, { judge_model: 'gpt-4o', tier1_metrics: ['task_completion'] });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await scene.pipeline.ended(turn(2));
    scene.pipeline.project = 'other';
    await scene.pipeline.ended(turn(0));
    expect(await desk.all('judge')).toBe(2);
    expect(
      scene
        .answers()
        .map(({ turn_index, session_id }) => [session_id, turn_index])
        .sort(),
    ).toEqual([
      ['s', 0],
      ['s', 2],
    ]);
    expect(await blocks()).toMatchObject([{ project: 'default', provider: 'judge:gpt-4o-mini' }]);
  });

  it('is not lifted by what was asked before it began, nor by a job that needs nobody', async () => {
    let release = (): void => undefined;
    const slow = new Promise<void>((resolve) => (release = resolve));
    scene = await Scene.open({}, async ({ index }) => {
      if (index > 0) return status(401);
      await slow;
      return status(401);
    });
    const desk = await scene.desk(judged);
    const empty = turn(1, { traces: [{ trace_id: 'e', started_at: 1 }] });
    await scene.pipeline.ended(turn(0), empty, turn(2));
    const early = await desk.take('judge', 1);
    const running = desk.run('judge', early);
    await desk.run(
      'judge',
      (await desk.take('judge', 2)).filter(({ job }) => job.t !== 1),
    );
    scene.models.script(() => saying(0.9));
    release();
    await running;
    expect(await blocks()).toHaveLength(1);
    await scene.query(`UPDATE scoring.score_jobs SET round = 0, lease = NULL, leased_until = NULL WHERE t = 1`);
    await scene.query(`UPDATE scoring.score_jobs SET round = 5 WHERE t <> 1`);
    await scene.later();
    expect(await desk.once('judge')).toBe(1);
    expect(scene.answers()).toMatchObject([{ turn_index: 1, scores: [{ status: 'not_applicable' }] }]);
    expect(await scene.journal()).toEqual(['judge_blocked']);
    // The next one may try at once.
    expect(await desk.once('judge')).toBe(1);
    expect(await blocks()).toEqual([]);
  });

  it('is not held up by one job that is at fault itself: another one tries next', async () => {
    scene = await Scene.open({}, ({ body }) =>
      JSON.stringify(body).includes('poison') ? status(400, refusal('odd')) : saying(0.8),
    );
    const desk = await scene.desk(judged);
    await scene.pipeline.ended(turn(0, { traces: [{ trace_id: 'p', started_at: 1, input: 'poison', output: 'x' }] }), turn(1));
    expect(await desk.once('judge', 1)).toBe(1);
    expect(await blocks()).toHaveLength(1);
    await scene.later();
    expect(await desk.once('judge', 1)).toBe(1);
    expect(scene.answers()).toMatchObject([{ turn_index: 1 }]);
    expect(await blocks()).toEqual([]);
  });
});

describe('a provider that asks to wait', () => {
  it('rests that long, however many run into it, and is not asked meanwhile', async () => {
    scene = await Scene.open({}, () => status(429, refusal('rate_limit_exceeded'), { 'retry-after': '90' }));
    const [one, two] = [await scene.desk(judged), await scene.desk(judged)];
    await scene.pipeline.ended(...turns(0, 200));
    const [first, second] = [await one.take('judge', 5), await two.take('judge', 5)];
    await Promise.all([one.run('judge', first), two.run('judge', second)]);
    expect(await rest()).toBeGreaterThan(85);
    expect(await rest()).toBeLessThanOrEqual(90);
    for (let tries = 0; tries < 5; tries += 1) expect([await one.once('judge'), await two.once('judge')]).toEqual([0, 0]);
    // Four at a time in each process are on their way when the first one is refused.
    expect(scene.models.requests.length).toBeLessThanOrEqual(8);
    expect(scene.health()).toEqual([]);
    expect(await scene.journal()).toEqual([]);
    expect(await scene.query(`SELECT 1 FROM scoring.score_jobs WHERE attempts > 0`)).toEqual([]);
  });

  it('is well again when it has answered, without a word in the journal', async () => {
    scene = await Scene.open({}, () => status(503, 'busy'));
    const desk = await scene.desk(judged);
    await scene.pipeline.ended(turn(0), turn(1));
    await desk.once('judge', 1);
    expect(await blocks()).toMatchObject([{ code: 'unavailable' }]);
    expect(Object.keys(desk.health.current)).toEqual(['judge:gpt-4o-mini']);
    scene.models.script(() => saying(0.8));
    expect(await desk.once('judge')).toBe(0);
    await scene.later();
    expect(await desk.once('judge')).toBe(1);
    expect(await desk.once('judge')).toBe(1);
    expect(wellOnes()).toBe(2);
    expect(await scene.journal()).toEqual([]);
    expect(desk.health.current).toEqual({});
  });
});

describe('a provider that takes too long', () => {
  it('delays that job only', async () => {
    scene = await Scene.open({}, ({ body }) => (JSON.stringify(body).includes('slow') ? () => undefined : saying(0.8)));
    const desk = await scene.desk({ judge_timeout_s: 0.1 });
    await scene.pipeline.ended(turn(0, { traces: [{ trace_id: 'p', started_at: 1, input: 'slow', output: 'x' }] }), turn(1));
    expect(await desk.all('judge')).toBe(2);
    expect(scene.answers()).toMatchObject([{ turn_index: 1, scores: [{ value: 0.8 }] }]);
    expect(await blocks()).toEqual([]);
    const [job] = await scene.query(
      `SELECT t, attempts, last_error, extract(epoch FROM run_after - now())::float8 AS wait FROM scoring.score_jobs WHERE lane = 'judge'`,
    );
    expect(job).toMatchObject({ t: 0, attempts: 1, last_error: expect.stringContaining('took too long') });
    expect(job?.['wait']).toBeGreaterThan(3);
    // It may have been charged.
    expect(await scene.query(`SELECT calls FROM scoring.usage WHERE tokens_in > 100`)).toEqual([{ calls: 3 }]);
    scene.models.script(() => saying(0.5));
    await scene.later();
    await desk.all('judge');
    expect(await scene.query('SELECT value, attempts FROM scoring.scores WHERE t = 0')).toEqual([{ value: 0.5, attempts: 2 }]);
  });
});

describe('a model without a price, under a limit of cost', () => {
  it('is refused before any call, and asked when it has one', async () => {
    scene = await Scene.open({ judge_model: 'my-model', max_cost_usd: 1 });
    const desk = await scene.desk(judged);
    await scene.pipeline.ended(turn(0), turn(1));
    await desk.all('judge');
    expect(scene.models.requests).toEqual([]);
    expect(await blocks()).toMatchObject([{ code: 'unpriced' }]);
    expect(await scene.query(`SELECT doc FROM journal.events`)).toMatchObject([
      { doc: { detail: expect.stringMatching(/max_cost_usd.*my-model.*model_prices/) } },
    ]);
    await scene.later();
    await desk.all('judge');
    expect(scene.models.requests).toEqual([]);
    // The price is the process's: it is started again with one.
    const priced = await scene.desk({ ...judged, model_prices: { 'my-model': { input: 1, output: 1 } } });
    await scene.later();
    await priced.all('judge');
    expect(wellOnes()).toBe(2);
    expect(await scene.journal()).toEqual(['judge_blocked', 'judge_resumed']);
  });
});
