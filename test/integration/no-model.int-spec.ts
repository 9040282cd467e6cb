import { afterEach, describe, expect, it } from '@jest/globals';
import { metricNames, type ProjectSettingsPatch } from '#contracts';
import { judgedMetrics } from '#judges';
import { embeddings, json, status } from '#testing';
import { saying, Scene, trace, turn } from './scene.js';

let scene: Scene;
afterEach(() => scene.close());

const empty = { trace_id: 't0', started_at: 1 };
const blank = trace('t0', { input: '', output: '  ' });
const jsonOnly = trace('t0', { input: { messages: [] }, output: { content: '' } });
const scores = (): Record<string, unknown>[] => scene.answers(1).at(-1)?.['scores'] as Record<string, unknown>[];
const nothingFired = async (): Promise<void> => {
  await scene.pipeline.settle();
  expect(await scene.query(`SELECT t FROM gating.turn_evals WHERE fired <> '{}' OR standing <> '{}'`)).toEqual([]);
};
/** The strictest gate there is: any value at all would fire. */
const strict: ProjectSettingsPatch = { gate_window: 1, gate_target: 1, gate_drop: 0 };
const perMetric = metricNames.filter((metric) => metric !== 'outcome_correct');

describe('a turn that shows nothing', () => {
  it.each(perMetric)('gives %s no value by its check, and fires nothing', async (metric) => {
    scene = await Scene.open({ ...strict, judge_model: null, tier1_metrics: [metric] });
    for (const [index, nothing] of [empty, blank, jsonOnly].entries()) {
      await scene.pipeline.ended({ session_id: 's', turn_index: index, traces: [{ ...nothing, trace_id: `t${index}` }] });
      const [score] = scores();
      if (metric === 'task_completion' || metric === 'step_efficiency') expect(score?.['value'] ?? 0).toBeLessThan(1);
      else
        expect(score).toMatchObject({
          metric,
          status: 'not_applicable',
          value: null,
          code: expect.any(String),
          reason: expect.any(String),
        });
    }
    if (metric !== 'task_completion') await nothingFired();
  });

  it.each(judgedMetrics)('gives %s no value by a judge who would say yes to everything, and fires nothing', async (metric) => {
    scene = await Scene.open({ ...strict, tier1_metrics: [metric] }, () =>
      saying(1, { task: null, outcome: null, asked: null, called: [], available: [], steps: [], verdicts: [] }),
    );
    const shown = [empty, blank, jsonOnly];
    const desk = await scene.desk();
    for (const [index, nothing] of shown.entries()) {
      await scene.pipeline.ended({ session_id: 's', turn_index: index, traces: [{ ...nothing, trace_id: `t${index}` }] });
      await desk.all('judge');
      expect(scores()).toMatchObject([{ metric, value: null, status: expect.stringMatching(/^(not_applicable|failed)$/) }]);
    }
    await nothingFired();
  });

  it('has no coherence by embeddings', async () => {
    scene = await Scene.open({ ...strict, embedding_model: 'text-embedding-3-small', tier1_metrics: ['coherence'] });
    const desk = await scene.desk();
    for (const [index, nothing] of [empty, blank, jsonOnly].entries()) {
      await scene.pipeline.ended({ session_id: 's', turn_index: index, traces: [{ ...nothing, trace_id: `t${index}` }] });
      await desk.all('embedding');
      expect(scores()).toMatchObject([{ metric: 'coherence', status: 'not_applicable', value: null }]);
    }
    expect(scene.models.requests).toEqual([]);
    await nothingFired();
  });

  it('makes no tier 2 metric of tools, whoever is asked', async () => {
    scene = await Scene.open({
      tier1_metrics: ['coherence'],
      tier2_metrics: ['tool_correctness', 'argument_correctness'],
      thresholds: { tool_correctness: 1, argument_correctness: 1 },
    });
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0));
    await scene.pipeline.give({
      id: null,
      subject: 'fm.default.tier.requested',
      payload: { session_id: 's', turn_index: 0, tier: 2 },
    });
    await desk.all('judge');
    expect(scene.answers(2)).toMatchObject([
      {
        scores: [
          { status: 'not_applicable', value: null },
          { status: 'not_applicable', value: null },
        ],
      },
    ]);
    expect(scene.models.requests).toEqual([]);
    await nothingFired();
  });
});

describe('a project without a model', () => {
  it('measures nothing by a metric that has no check', async () => {
    scene = await Scene.open({ judge_model: null, tier1_metrics: ['confidence'] });
    await scene.pipeline.ended(turn(0));
    expect(scene.answers()).toMatchObject([
      { answer: 1, pending: false, scores: [{ status: 'not_applicable', value: null, code: 'no_model' }] },
    ]);
    expect(await scene.jobs()).toBe(0);
    await nothingFired();
  });

  it('that has chosen the judge is answered at once with the rest pending, which is given up in time', async () => {
    scene = await Scene.open({
      ...strict,
      judge_model: null,
      evaluators: { task_completion: 'judge' },
      tier1_metrics: ['task_completion', 'coherence'],
    });
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0));
    expect(scene.answers()).toMatchObject([
      { answer: 1, pending: true, scores: [{ status: 'pending', code: 'no_model', value: null }, { status: 'scored' }] },
    ]);
    expect(await desk.all('judge')).toBe(0);
    await scene.query(`UPDATE scoring.score_jobs SET expires_at = now() WHERE lane <> 'verifier'`);
    expect(await desk.store.expire()).toBe(1);
    expect(scene.answers()[1]).toMatchObject({
      answer: 2,
      pending: false,
      scores: [{ status: 'failed', code: 'expired', value: null }, {}],
    });
    await nothingFired();
  });

  it('takes the model from the next turn on', async () => {
    scene = await Scene.open({ judge_model: null, tier1_metrics: ['confidence'] });
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0));
    await scene.settings('default', 2, { judge_model: 'gpt-4o-mini', tier1_metrics: ['confidence'] });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await scene.pipeline.ended(turn(1));
    await desk.all('judge');
    expect(await scene.query('SELECT t, status, source FROM scoring.scores ORDER BY t')).toEqual([
      { t: 0, status: 'not_applicable', source: 'check' },
      { t: 1, status: 'scored', source: 'judge' },
    ]);
  });
});

describe('coherence by embeddings', () => {
  it('is the cosine of request and answer, with what it cost', async () => {
    scene = await Scene.open({ embedding_model: 'text-embedding-3-small', tier1_metrics: ['coherence'] }, ({ body }) =>
      embeddings([body['input']].flat().map(String)),
    );
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0));
    await desk.all('embedding');
    expect(scores()).toMatchObject([
      { metric: 'coherence', status: 'scored', source: 'embedding', evaluator: 'embedding/text-embedding-3-small' },
    ]);
    expect(await scene.query('SELECT metric, model, calls, tokens_in, cost_usd > 0 AS priced FROM scoring.usage')).toEqual([
      { metric: 'coherence', model: 'text-embedding-3-small', calls: 1, tokens_in: 2, priced: true },
    ]);
  });

  it('is made of shorter texts for a model with a small window, which is remembered', async () => {
    scene = await Scene.open({ embedding_model: 'text-embedding-3-small', tier1_metrics: ['coherence'] }, ({ body }) => {
      const inputs = [body['input']].flat().map(String);
      if (inputs.every((text) => text.length <= 1_500)) return embeddings(inputs);
      return status(400, { error: { message: 'too long', code: 'context_length_exceeded' } });
    });
    const desk = await scene.desk();
    const long = (id: string): object => trace(id, { input: 'where is it? '.repeat(2_000), output: 'here' });
    await scene.pipeline.ended(turn(0, { traces: [long('t0')] }));
    await desk.all('embedding');
    await scene.pipeline.ended(turn(1, { traces: [long('t1')] }));
    await desk.all('embedding');
    expect(scene.answers(1).map(({ scores: made }) => (made as { status: string }[])[0]?.status)).toEqual(['scored', 'scored']);
    const lengths = scene.models.requests.map(({ body }) => String([body['input']].flat()[0]).length);
    expect(lengths).toEqual([8_000, 4_000, 2_000, 1_000, 1_000]);
  });

  it('has failed where the model takes no text at all, however short, without asking for the same once more', async () => {
    scene = await Scene.open({ embedding_model: 'text-embedding-3-small', tier1_metrics: ['coherence'] }, () =>
      status(400, { error: { message: 'too long', code: 'context_length_exceeded' } }),
    );
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0), turn(1, { traces: [trace('t1', { input: 'x'.repeat(1_500) })] }));
    await desk.all('embedding');
    expect(await scene.query('SELECT t, status, code FROM scoring.scores ORDER BY t')).toEqual([
      { t: 0, status: 'failed', code: 'context_length' },
      { t: 1, status: 'failed', code: 'context_length' },
    ]);
    expect(scene.models.requests).toHaveLength(4);
  });

  it('that the provider declines for these texts has failed at once, and is paid for', async () => {
    scene = await Scene.open({ embedding_model: 'text-embedding-3-small', tier1_metrics: ['coherence'] }, () =>
      json({ error: { message: 'flagged', code: 'content_filter' } }),
    );
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0));
    await desk.all('embedding');
    expect(scores()).toMatchObject([{ status: 'failed', code: 'content', value: null }]);
    expect(await scene.query('SELECT evals, calls FROM scoring.usage')).toEqual([{ evals: 1, calls: 1 }]);
    expect(await scene.query('SELECT 1 FROM scoring.provider_blocks')).toEqual([]);
  });
});
