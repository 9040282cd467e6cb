import { afterEach, describe, expect, it } from '@jest/globals';
import { status, type Reply } from '#testing';
import { saying, Scene, trace, turn } from './scene.js';

let scene: Scene;
afterEach(() => scene.close());

const blocks = (): Promise<Record<string, unknown>[]> =>
  scene.query('SELECT project, provider, code FROM scoring.provider_blocks ORDER BY project, provider');
const values = (): Promise<Record<string, unknown>[]> =>
  scene.query(`SELECT t, trace, status, code, value FROM scoring.scores WHERE status <> 'pending' ORDER BY t, trace`);
const poisoned = (trace_id: string): object => trace(trace_id, { input: 'poison' });
const refusing = (reply: Reply) => {
  return ({ body }: { body: object }): Reply => (JSON.stringify(body).includes('poison') ? reply : saying(0.8));
};

describe.each<[number, Reply]>([
  [400, status(400, { error: { message: 'odd text', code: 'bad_request' } })],
  [422, status(422, { error: { message: 'odd text' } })],
  [500, status(500, 'internal error')],
])('a question that its provider always answers with %d', (code, reply) => {
  it('has failed at the third time, when others were answered in between, and holds up nobody after that', async () => {
    scene = await Scene.open({}, refusing(reply));
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0, { traces: [poisoned('t0')] }));
    await desk.once('judge', 1);
    for (let round = 1; round <= 4; round += 1) {
      await scene.pipeline.ended(turn(round));
      // One that is well heals the provider; then the bad one has its turn.
      await scene.later();
      await desk.once('judge', 1);
      await desk.once('judge', 1);
    }
    expect((await values())[0]).toEqual({ t: 0, trace: 't0', status: 'failed', code: 'refused', value: null });
    expect(await blocks()).toEqual([]);
    expect(await scene.jobs()).toBe(0);
    // Of a status that may pass each try is four requests; one that may be about a parameter is tried once without it.
    expect(scene.models.requests.filter(({ body }) => JSON.stringify(body).includes('poison')).length).toBe(
      code === 500 ? 12 : 4,
    );
    const said = code === 500 ? [] : ['judge_blocked', 'judge_resumed', 'judge_blocked', 'judge_resumed'];
    expect((await scene.journal()).filter((type) => type !== 'score_failed')).toEqual(said);
    expect(await scene.query(`SELECT doc FROM journal.events WHERE type = 'score_failed'`)).toMatchObject([
      { doc: { code: 'refused', trace_id: 't0', error: expect.stringMatching(/odd text|internal error/) } },
    ]);
    expect(desk.health.current).toEqual({});
  });
});

describe('a provider that refuses everybody', () => {
  it('costs no value, however often it is tried: that is no word about any one question', async () => {
    scene = await Scene.open({}, () => status(400, { error: { message: 'no such parameter', code: 'bad_request' } }));
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0), turn(1), turn(2));
    for (let round = 0; round < 12; round += 1) {
      await scene.later();
      await desk.once('judge', 3);
    }
    expect(await values()).toEqual([]);
    expect(await blocks()).toMatchObject([{ code: 'config' }]);
    expect(await scene.journal()).toEqual(['judge_blocked']);
    scene.models.script(() => saying(0.8));
    await scene.later();
    await desk.all('judge');
    expect((await values()).map((row) => row['status'])).toEqual(['scored', 'scored', 'scored']);
  });
});

describe('a turn of which one trace cannot be judged', () => {
  it('has the others judged', async () => {
    scene = await Scene.open({}, refusing(status(400, { error: { message: 'odd text', code: 'bad_request' } })));
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0, { traces: [poisoned('t0'), trace('t1'), trace('t2')] }));
    for (let round = 1; round <= 4; round += 1) {
      await scene.pipeline.ended(turn(round, { session_id: `s${round}` }));
      for (let tries = 0; tries < 3; tries += 1) {
        await scene.later();
        await desk.once('judge', 1);
      }
    }
    await desk.all('judge');
    const own = (await values()).filter(({ t }) => t === 0);
    expect(own.map((row) => [row['trace'], row['status']])).toEqual([
      ['t0', 'failed'],
      ['t1', 'scored'],
      ['t2', 'scored'],
    ]);
  });
});

describe('a provider in trouble that nobody asks any more', () => {
  it('is forgotten, and said to be well wherever it was said to be in trouble', async () => {
    scene = await Scene.open({ judge_model: 'gpt-4o-mimi', report_wait_s: 0 }, ({ body }) =>
      body['model'] === 'gpt-4o-mimi'
        ? status(404, { error: { message: 'no such model', code: 'model_not_found' } })
        : saying(0.8),
    );
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0));
    await desk.once('judge');
    await scene.later();
    await desk.everySecond.tick();
    // Its job is still there to try it with.
    expect(await blocks()).toMatchObject([{ provider: 'judge:gpt-4o-mimi', code: 'config' }]);
    await scene.query('UPDATE scoring.score_jobs SET expires_at = now()');
    await desk.everySecond.tick();
    await desk.everySecond.tick();
    expect(await blocks()).toEqual([]);
    expect((await scene.journal()).filter((type) => type.startsWith('judge'))).toEqual(['judge_blocked', 'judge_resumed']);
    expect(scene.health().map((event) => [event['status'], event['dependency']])).toEqual([
      ['degraded', 'judge_blocked:default:judge:gpt-4o-mimi'],
      ['ok', 'judge_blocked:default:judge:gpt-4o-mimi'],
    ]);
  });

  it('that rests only is forgotten without a word', async () => {
    scene = await Scene.open({}, () => status(503, 'busy'));
    const [desk, other] = [await scene.desk(), await scene.desk()];
    await scene.pipeline.ended(turn(0), turn(1));
    await desk.once('judge', 1);
    expect(Object.keys(desk.health.current)).toEqual(['judge:gpt-4o-mini']);
    await desk.everySecond.tick();
    expect(Object.keys(desk.health.current)).toEqual(['judge:gpt-4o-mini']);
    // Another process is answered.
    scene.models.script(() => saying(0.8));
    await scene.later();
    await other.all('judge');
    await desk.everySecond.tick();
    expect(desk.health.current).toEqual({});
    expect(await scene.journal()).toEqual([]);
  });
});
