import { afterEach, describe, expect, it } from '@jest/globals';
import type { ProjectSettingsPatch } from '#contracts';
import { answer, json, status, type Script } from '#testing';
import { asks, call, saying, Scene, trace, turn } from './scene.js';

let scene: Scene;
const open = async (patch: ProjectSettingsPatch = {}, script?: Script): Promise<Scene> =>
  (scene = await Scene.open(patch, script));
afterEach(() => scene.close());

const tierTwo = (turn_index: number) => ({
  ...{ id: null, subject: 'fm.default.tier.requested' },
  payload: { session_id: 's', turn_index, tier: 2 },
});

describe('a judged metric', () => {
  it('is answered when the judge has spoken, once, with what it cost', async () => {
    await open();
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0));
    expect(scene.answers()).toEqual([]);
    expect(await desk.all('judge')).toBe(1);
    await desk.all('judge');
    await scene.pipeline.ended(turn(0));
    expect(scene.answers()).toMatchObject([
      { tier: 1, answer: 1, pending: false, scores: [{ status: 'scored', value: 0.8, source: 'judge' }] },
    ]);
    expect(await scene.query('SELECT * FROM scoring.scores')).toMatchObject([
      {
        ...{ status: 'scored', value: 0.8, model: 'gpt-4o-mini', provider: null, tokens_in: 24, tokens_out: 14, attempts: 1 },
        ...{ prompt_hash: expect.stringMatching(/^[0-9a-f]{8,}$/), latency_ms: expect.any(Number) },
        evaluator: expect.stringMatching(/^judge\/gpt-4o-mini\/[0-9a-f]+$/),
      },
    ]);
    // Two calls of 12 and 7 tokens, at 0.15 and 0.6 dollars for a million.
    const cost = (24 * 0.15 + 14 * 0.6) / 1e6;
    const [{ cost_usd } = { cost_usd: 0 }] = await scene.query<{ cost_usd: number }>('SELECT cost_usd FROM scoring.scores');
    expect(cost_usd).toBeCloseTo(cost, 12);
    expect(
      await scene.query('SELECT metric, tier, model, evals, calls, tokens_in, tokens_out, unpriced_calls FROM scoring.usage'),
    ).toEqual([
      {
        metric: 'task_completion',
        tier: 1,
        model: 'gpt-4o-mini',
        evals: 1,
        calls: 2,
        tokens_in: 24,
        tokens_out: 14,
        unpriced_calls: 0,
      },
    ]);
    expect((await scene.query<{ cost_usd: number }>('SELECT cost_usd FROM scoring.spend'))[0]?.cost_usd).toBeCloseTo(cost, 12);
    expect(await scene.jobs()).toBe(0);
    expect(await scene.query('SELECT 1 FROM scoring.tier_waits')).toEqual([]);
  });

  it('is paid for whether a value comes of it or not, and every try is counted', async () => {
    let asked = 0;
    await open({}, () => ((asked += 1) <= 2 ? answer('I would rather not say.') : saying(0.4)));
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0), turn(1));
    await desk.once('judge', 1);
    await desk.once('judge', 1);
    expect(await scene.query('SELECT status, code, value FROM scoring.scores ORDER BY t')).toEqual([
      { status: 'failed', code: 'invalid_output', value: null },
      { status: 'scored', code: null, value: 0.4 },
    ]);
    expect(await scene.query('SELECT evals, calls, tokens_in FROM scoring.usage')).toEqual([
      { evals: 2, calls: 4, tokens_in: 48 },
    ]);
    expect(await scene.query(`SELECT t, doc FROM journal.events WHERE type = 'score_failed'`)).toMatchObject([
      { t: 0, doc: { metric: 'task_completion', trace_id: 't0', code: 'invalid_output', provider: 'judge:gpt-4o-mini' } },
    ]);
  });

  it('is answered with the rest pending when its time is over, and again, whole, when the value comes', async () => {
    await open({ report_wait_s: 30, tier1_metrics: ['task_completion', 'coherence'] });
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0), turn(1));
    expect(await desk.store.answerDue()).toBe(0);
    await scene.query(`UPDATE scoring.tier_waits SET until = now() WHERE t = 0`);
    expect(await desk.store.answerDue()).toBe(1);
    expect(await desk.store.answerDue()).toBe(0);
    expect(scene.answers()).toMatchObject([
      {
        ...{ turn_index: 0, answer: 1, pending: true },
        scores: [
          { metric: 'task_completion', status: 'pending', value: null },
          { metric: 'coherence', status: 'scored', source: 'lexical' },
        ],
      },
    ]);
    await scene.pipeline.settle();
    expect(scene.pipeline.of('.turn.evaluated').map(({ payload }) => payload['complete'])).toEqual([false]);
    expect([await desk.once('judge', 1), await desk.once('judge', 1)]).toEqual([1, 1]);
    expect(scene.answers().map(({ turn_index, answer: n, pending }) => [turn_index, n, pending])).toEqual([
      [0, 1, true],
      [0, 2, false],
      [1, 1, false],
    ]);
    expect(scene.answers()[1]?.['scores']).toMatchObject([
      { metric: 'task_completion', status: 'scored', value: 0.8 },
      { metric: 'coherence', status: 'scored', source: 'lexical' },
    ]);
    await scene.pipeline.settle();
    const reports = scene.pipeline
      .of('.turn.evaluated')
      .map(({ payload: { turn_index, revision, complete } }) => [turn_index, revision, complete]);
    expect(reports).toContainEqual([0, 2, true]);
    expect(reports).toContainEqual([1, 1, true]);
  });

  it('of tier 2 waits from when it was asked for', async () => {
    await open({ report_wait_s: 30, tier2_metrics: ['tool_correctness'] });
    await scene.pipeline.ended(turn(0, { traces: [trace('t0', { spans: [call('x')] })] }));
    await scene.query(`UPDATE scoring.turns SET accepted_us = accepted_us - 3600000000`);
    await scene.query(`UPDATE scoring.tier_waits SET until = until - interval '1 hour'`);
    await scene.pipeline.give(tierTwo(0));
    await scene.pipeline.give(tierTwo(0));
    const [{ left } = { left: 0 }] = await scene.query<{ left: number }>(
      'SELECT extract(epoch FROM until - now())::float8 AS left FROM scoring.tier_waits WHERE tier = 2',
    );
    expect(left).toBeGreaterThan(20);
    expect(await (await scene.desk()).store.answerDue()).toBe(1);
    expect(scene.answers().map(({ tier }) => tier)).toEqual([1]);
  });
});

describe('a judge that is asked twice', () => {
  it('confirms a breach of tier 2 twice more, and the median decides', async () => {
    const values = [0.1, 0.9, 0.7];
    await open({ tier2_metrics: ['tool_correctness'] }, (request) =>
      asks(request) === 'tool_correctness'
        ? saying(values.shift() ?? 0)
        : saying(0.8, { asked: 'pay', called: [], available: [] }),
    );
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0, { traces: [trace('t0', { spans: [call('x')] })] }));
    await desk.all('judge');
    await scene.pipeline.give(tierTwo(0));
    await desk.all('judge');
    expect(scene.answers(2)).toMatchObject([{ answer: 1, scores: [{ metric: 'tool_correctness', value: 0.7 }] }]);
    expect(scene.models.requests.filter((request) => asks(request) === 'tool_correctness')).toHaveLength(3);
  });

  it('is asked `judge_samples` times, without confirming outside of tier 2', async () => {
    const values = [0.1, 0.2, 0.6];
    await open({ judge_samples: 3 }, (request) => saying(asks(request) === 'task_completion' ? (values.shift() ?? 0) : 1));
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0));
    await desk.all('judge');
    expect(scene.answers()).toMatchObject([{ scores: [{ value: 0.2 }] }]);
    expect(scene.models.requests).toHaveLength(4);
  });
});

describe('a stage that several metrics need', () => {
  const script: Script = () => saying(0.8, { steps: [{ step: 'look it up', quote: 'it is here' }] });
  const patch = {
    tier1_metrics: ['task_completion', 'plan_quality'],
    ...{ tier2_metrics: ['plan_adherence'], tier3_metrics: ['step_efficiency'], enable_tier3: true },
  };

  it('is made once for a trace, over metrics, tiers and workers, and kept under the hash of its prompt', async () => {
    await open(patch, script);
    const first = await scene.desk();
    await scene.pipeline.ended(turn(0));
    await first.all('judge');
    await scene.pipeline.give(tierTwo(0));
    const second = await scene.desk();
    await second.all('judge');
    expect(scene.answers(2)).toMatchObject([{ scores: [{ metric: 'plan_adherence', status: 'scored', value: 0.8 }] }]);
    const extractions = scene.models.requests.map(asks).filter((name) => name === 'task_and_outcome' || name === 'plan');
    expect(extractions.sort()).toEqual(['plan', 'task_and_outcome']);
    const stages = await scene.query<{ stage: string }>('SELECT stage FROM scoring.judge_stages ORDER BY stage');
    expect(stages.map(({ stage }) => stage)).toEqual([
      expect.stringMatching(/^gpt-4o-mini\/plan@[0-9a-f]+$/),
      expect.stringMatching(/^gpt-4o-mini\/task_and_outcome@[0-9a-f]+$/),
    ]);
  });

  it('is not shared between traces', async () => {
    await open({ tier1_metrics: ['task_completion'] }, script);
    await scene.pipeline.ended(turn(0, { traces: [trace('t0'), trace('t1')] }));
    await (await scene.desk()).all('judge');
    expect(scene.models.requests.map(asks).sort()).toEqual([
      ...['task_and_outcome', 'task_and_outcome', 'task_completion', 'task_completion'],
    ]);
  });

  it('that failed is made again with the next try', async () => {
    await open({}, [status(500), status(500), status(500)]);
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0));
    await desk.once('judge');
    scene.models.script(script);
    await scene.later();
    await desk.all('judge');
    expect(scene.answers()).toMatchObject([{ pending: false, scores: [{ value: 0.8 }] }]);
  });
});

describe('what a judge says of one trace only', () => {
  it('is that the provider declined it: this score has failed, the others have not, and the gate does not fire', async () => {
    await open({ gate_window: 1, gate_target: 0.9 }, ({ body }) =>
      JSON.stringify(body).includes('forbidden')
        ? json({
            choices: [{ index: 0, message: { role: 'assistant', content: null, refusal: 'no' }, finish_reason: 'stop' }],
            usage: { prompt_tokens: 5, completion_tokens: 1 },
          })
        : saying(0.8),
    );
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0), turn(1, { traces: [trace('t1', { input: 'something forbidden' })] }));
    await desk.all('judge');
    await scene.pipeline.settle();
    expect(await scene.query('SELECT t, status, value, code FROM scoring.scores ORDER BY t')).toEqual([
      { t: 0, status: 'scored', value: 0.8, code: null },
      { t: 1, status: 'failed', value: null, code: 'content' },
    ]);
    expect(scene.health()).toEqual([]);
    expect(await scene.query('SELECT t FROM gating.turn_evals WHERE fired <> $1', ['{}'])).toEqual([]);
    expect(scene.answers(2)).toEqual([]);
  });

  it('may hold characters that no database takes', async () => {
    await open({}, () =>
      saying(0.8, { reason: 'a \u0000 and half a \ud83d pair', task: 'find \u0000', outcome: 'found \udc00' }),
    );
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0));
    await desk.all('judge');
    expect(scene.answers()).toMatchObject([{ scores: [{ status: 'scored', value: 0.8 }] }]);
  });
});

describe('a turn of many traces', () => {
  it('gives way to others after sixteen values, and is answered once', async () => {
    await open();
    const desk = await scene.desk();
    const traces = Array.from({ length: 40 }, (_, index) => trace(`a${index}`));
    await scene.pipeline.ended(
      { session_id: 'many', turn_index: 0, traces },
      { session_id: 'one', turn_index: 0, traces: [trace('b')] },
    );
    const order: string[] = [];
    for (let left = 10; left > 0; left -= 1) {
      const jobs = await desk.take('judge', 1);
      order.push(...jobs.map(({ session, wanted }) => `${session}:${wanted.length}`));
      await desk.run('judge', jobs);
    }
    expect([...order].sort()).toEqual(['many:16', 'many:16', 'many:8', 'one:1']);
    expect(order.indexOf('one:1')).toBeLessThan(2);
    expect(scene.answers().filter(({ session_id }) => session_id === 'many')).toMatchObject([{ answer: 1, pending: false }]);
  });
});
