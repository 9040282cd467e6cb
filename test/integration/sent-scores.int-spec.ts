import { afterEach, describe, expect, it } from '@jest/globals';
import type { ProjectSettingsPatch } from '#contracts';
import { call, Scene, trace, turn } from './scene.js';

let scene: Scene;
const open = async (patch: ProjectSettingsPatch = {}): Promise<void> => {
  scene = await Scene.open(patch);
};
afterEach(() => scene.close());

interface Known {
  readonly metric: string;
  readonly trace_id: string | null;
  readonly status: string;
  readonly value: number | null;
  readonly source: string;
  readonly code: string | null;
}
const scoresOf = (answer: Record<string, unknown> | undefined): string[] =>
  (answer?.['scores'] as Known[]).map(
    ({ metric, trace_id, status, value, source }) => `${metric}@${trace_id ?? 'turn'} ${source} ${status} ${value ?? '-'}`,
  );
const last = (tier = 1): Record<string, unknown> | undefined => scene.answers(tier).at(-1);
const completion = (value: unknown, more: object = {}): object => ({ metric: 'task_completion', value, ...more });
const tierTwo = () =>
  scene.pipeline.give({ id: null, subject: 'fm.default.tier.requested', payload: { session_id: 's', turn_index: 0, tier: 2 } });

describe('a score that a host sends', () => {
  it.each<[string, (send: object) => Promise<void>]>([
    ['in its turn', (score) => scene.pipeline.ended(turn(0, { scores: [score] }))],
    [
      'before its turn',
      async (score) => {
        await scene.pipeline.sent('s', 0, score);
        await scene.pipeline.ended(turn(0));
      },
    ],
  ])('%s is there at once: nobody else is asked', async (_, send) => {
    await open();
    await send(completion(0.3, { reason: 'half done' }));
    expect(scoresOf(last())).toEqual(['task_completion@turn host scored 0.3']);
    expect(scene.answers()).toMatchObject([
      { answer: 1, pending: false, scores: [{ reason: 'half done', evaluator: 'host/1' }] },
    ]);
    expect(await scene.jobs()).toBe(0);
  });

  it('after its turn takes the place of what still waits: a new, whole answer, and its job ends without a call', async () => {
    await open({ tier1_metrics: ['task_completion', 'coherence'] });
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0));
    await scene.query('UPDATE scoring.tier_waits SET until = now()');
    await desk.store.answerDue();
    await scene.pipeline.sent('s', 0, completion(0.9));
    expect(last()).toMatchObject({ answer: 2, pending: false });
    expect(scoresOf(last())).toEqual([
      'task_completion@turn host scored 0.9',
      'task_completion@t0 judge not_applicable -',
      expect.stringMatching(/^coherence@t0 lexical scored/),
    ]);
    expect(await desk.all('judge')).toBe(1);
    expect(scene.models.requests).toEqual([]);
    expect(await scene.jobs()).toBe(0);
    expect(scene.answers()).toHaveLength(2);
  });

  it('after its turn, while nothing is answered yet, completes the first answer', async () => {
    await open();
    await scene.pipeline.ended(turn(0));
    await scene.pipeline.sent('s', 0, completion(0.9));
    expect(scene.answers()).toMatchObject([{ answer: 1, pending: false }]);
    expect(await scene.query('SELECT 1 FROM scoring.tier_waits')).toEqual([]);
  });

  it('after everybody has spoken takes the place of what they said, but for traces that are not theirs', async () => {
    await open({ tier1_metrics: ['task_completion', 'coherence'], tier2_metrics: ['tool_correctness'] });
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0, { traces: [trace('t0'), trace('t1', { spans: [call('x')] })] }));
    await desk.all('judge');
    await tierTwo();
    await desk.all('judge');
    await scene.pipeline.sent(
      ...(['s', 0] as const),
      completion(0.2, { trace_id: 't1' }),
      completion(0.3, { trace_id: 'of another turn' }),
      { metric: 'coherence', value: 0.4 },
      { metric: 'tool_correctness', value: 0.5, trace_id: 't0' },
    );
    const scored = (answer: Record<string, unknown> | undefined): string[] =>
      scoresOf(answer).filter((line) => line.includes(' scored '));
    expect(scored(last()).sort()).toEqual([
      'coherence@turn host scored 0.4',
      'task_completion@t0 judge scored 0.8',
      'task_completion@t1 host scored 0.2',
    ]);
    // Tier 2 looks at the last trace.
    expect(scene.answers(2)).toHaveLength(1);
    expect(await scene.query(`SELECT 1 FROM scoring.scores WHERE code = 'sent_by_host' AND value IS NOT NULL`)).toEqual([]);
  });

  it('while the judge is at work stands; the judge is too late', async () => {
    await open();
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0));
    const held = await desk.take('judge');
    await scene.pipeline.sent('s', 0, completion(0.2));
    await desk.run('judge', held);
    expect(scoresOf(last())).toEqual(['task_completion@turn host scored 0.2', 'task_completion@t0 judge not_applicable -']);
    expect(await scene.jobs()).toBe(0);
  });

  it('for one trace leaves the others to the judge', async () => {
    await open();
    const desk = await scene.desk();
    const traces = [trace('t0'), trace('t1')];
    await scene.pipeline.ended(
      turn(0, { traces, scores: [completion(0.1, { trace_id: 't1' })] }),
      turn(1, { traces: [trace('a1'), trace('a2')] }),
    );
    await scene.pipeline.sent('s', 1, completion(0.4, { trace_id: 'a2' }));
    await desk.all('judge');
    expect(scoresOf(scene.answers().find(({ turn_index }) => turn_index === 0))).toEqual([
      'task_completion@t0 judge scored 0.8',
      'task_completion@t1 host scored 0.1',
    ]);
    expect(scoresOf(scene.answers().findLast(({ turn_index }) => turn_index === 1))).toEqual([
      'task_completion@a1 judge scored 0.8',
      'task_completion@a2 judge not_applicable -',
      'task_completion@a2 host scored 0.4',
    ]);
  });

  it('is kept by its first word, in the turn before the others', async () => {
    await open();
    await scene.pipeline.sent('s', 0, completion(0.9));
    await scene.pipeline.ended(turn(0, { scores: [completion(0.3), completion(0.5)] }));
    expect(scoresOf(last())).toEqual(['task_completion@turn host scored 0.3']);
  });

  it('may be true, false or null', async () => {
    await open({ tier1_metrics: ['task_completion', 'coherence', 'confidence'] });
    await scene.pipeline.ended(
      turn(0, { scores: [completion(true), { metric: 'coherence', value: false }, { metric: 'confidence', value: null }] }),
    );
    expect(scoresOf(last())).toEqual([
      'task_completion@turn host scored 1',
      'coherence@turn host scored 0',
      'confidence@turn host not_applicable -',
    ]);
  });

  it.each([1.5, -0.1])('of %d has failed, in sight, and moves no gate', async (value) => {
    await open({ gate_window: 1, gate_target: 1 });
    await scene.pipeline.ended(turn(0, { scores: [completion(0.9)] }), turn(1, { scores: [completion(value)] }));
    await scene.pipeline.settle();
    expect(last()?.['scores']).toMatchObject([
      { status: 'failed', value: null, code: 'out_of_range', reason: `${value} was sent, which is not in [0, 1].` },
    ]);
    expect(await scene.query(`SELECT t FROM gating.turn_evals WHERE fired <> '{}'`)).toEqual([]);
    const [head] = await scene.query<{ state: { tracks: Record<string, { peak?: number }> } }>('SELECT state FROM gating.heads');
    expect(Object.values(head?.state.tracks ?? {}).map(({ peak }) => peak)).toEqual([0.9]);
  });

  it('is no concern of a project that has chosen its evaluator', async () => {
    await open({ evaluators: { task_completion: 'judge' } });
    const desk = await scene.desk();
    await scene.pipeline.sent('s', 0, completion(0.1, { trace_id: 't0' }));
    await scene.pipeline.ended(turn(0, { scores: [completion(0.2)] }));
    await scene.pipeline.sent('s', 0, completion(0.3));
    await desk.all('judge');
    expect(scene.answers()).toHaveLength(1);
    expect(scoresOf(last())).toEqual(['task_completion@t0 judge scored 0.8']);
  });

  it('is waited for by nobody where the project takes it from the host alone', async () => {
    await open({ evaluators: { task_completion: 'host' } });
    await scene.pipeline.ended(turn(0));
    expect(last()).toMatchObject({
      answer: 1,
      pending: false,
      scores: [{ status: 'not_applicable', code: 'not_sent', value: null }],
    });
    await scene.pipeline.sent('s', 0, completion(0.6, { trace_id: 't0' }));
    expect(last()).toMatchObject({ answer: 2 });
    expect(scoresOf(last()).at(-1)).toBe('task_completion@t0 host scored 0.6');
    expect(await scene.query(`SELECT status FROM scoring.scores WHERE code = 'not_sent'`)).toEqual([]);
  });

  it('of a metric that nobody measures, or that there is not, is harmless', async () => {
    await open();
    await scene.pipeline.sent('s', 0, { metric: 'no_such_metric', value: 0 });
    await scene.pipeline.ended(
      turn(0, { scores: [{ metric: 'no_such_metric', value: 0 }, { metric: 'plan_quality', value: 0 }, completion(1)] }),
    );
    await scene.pipeline.sent('s', 0, { metric: 'plan_quality', value: 0, trace_id: 't0' }, { metric: 'nor_this', value: 0 });
    expect(scene.answers()).toHaveLength(1);
    expect(scoresOf(last())).toEqual(['task_completion@turn host scored 1']);
    expect(await scene.query('SELECT 1 FROM scoring.posted_scores WHERE NOT attached')).toEqual([]);
  });

  it('of a costlier tier waits until that tier is asked for', async () => {
    await open({ tier2_metrics: ['tool_correctness'] });
    await scene.pipeline.ended(turn(0, { traces: [trace('t0', { spans: [call('x')] })], scores: [completion(0.5)] }));
    await scene.pipeline.sent('s', 0, { metric: 'tool_correctness', value: 0.2 });
    expect(scene.answers(2)).toEqual([]);
    await tierTwo();
    expect(scoresOf(last(2))).toEqual(['tool_correctness@turn host scored 0.2']);
  });

  it('that is sent while its tier is being asked for is not missed', async () => {
    await open({ tier2_metrics: ['tool_correctness'], evaluators: {} });
    await scene.pipeline.ended(turn(0, { traces: [trace('t0', { spans: [call('x')] })], scores: [completion(0.5)] }));
    await scene.query(
      `CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END $$;
       CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON scoring.tier_waits DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold()`,
    );
    const asked = tierTwo();
    await new Promise((resolve) => setTimeout(resolve, 150));
    await Promise.all([asked, scene.pipeline.sent('s', 0, { metric: 'tool_correctness', value: 0.2 }), tierTwo()]);
    expect(scoresOf(last(2)).at(-1)).toBe('tool_correctness@turn host scored 0.2');
    expect(scene.answers(2)).toHaveLength(1);
  });

  it('reaches a turn that waits for its traces when it is scored', async () => {
    await open({ trace_wait_s: 0.05 });
    await scene.pipeline.sent('s', 0, completion(0.7));
    await scene.pipeline.ended(turn(0, { trace_ids: ['elsewhere'] }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await scene.pipeline.scoringWork.run((tx) => scene.pipeline.turnStore.answerOverdue(tx));
    expect(scoresOf(last())).toEqual(['task_completion@turn host scored 0.7']);
  });
});

describe('a verdict about one trace', () => {
  const verdict = (trace_id: string, value: number) => ({ metric: 'outcome_correct', trace_id, value });
  const values = (): unknown[] =>
    scene
      .answers(0)
      .map(({ scores }) => (scores as Known[]).map(({ trace_id, value }) => `${String(trace_id)} ${String(value)}`));

  it('counts where the turn carries or names that trace; any other is kept, and answers nothing', async () => {
    await open({ judge_model: null, trace_wait_s: 60 });
    await scene.pipeline.sent('s', 0, verdict('elsewhere', 0), verdict('t0', 0.5));
    await scene.pipeline.sent('s', 1, verdict('elsewhere', 0));
    await scene.pipeline.sent('s', 2, verdict('named', 0.25));
    await scene.pipeline.ended(turn(0), turn(1), turn(2, { trace_ids: ['named'] }));
    expect(values()).toEqual([['t0 0.5'], ['named 0.25']]);
    for (let index = 0; index < 20; index += 1) await scene.pipeline.sent('s', 1, verdict(`unknown ${index}`, 0));
    expect(scene.answers(0)).toHaveLength(2);
    await scene.pipeline.sent('s', 0, { metric: 'outcome_correct', value: 1 });
    expect(values().at(-1)).toEqual(['null 1', 't0 0.5']);
    expect(await scene.query(`SELECT 1 FROM scoring.posted_scores WHERE NOT attached`)).toEqual([]);
  });

  it('is answered again however often the turn has been', async () => {
    await open({ judge_model: null });
    await scene.pipeline.ended(turn(0));
    await scene.query('UPDATE scoring.turns SET answered_0 = 40000');
    await scene.pipeline.verified('s', 0, 1);
    expect(scene.answers(0)).toMatchObject([{ answer: 40_001 }]);
  });
});

describe('the word of an agent about its own outcome', () => {
  const outcome = { metric: 'outcome_correct', value: true };
  it('is not taken', async () => {
    await open({ judge_model: null });
    await scene.pipeline.ended(turn(0, { scores: [outcome] }));
    expect(scene.answers(0)).toEqual([]);
    expect(await scene.query('SELECT 1 FROM scoring.posted_scores')).toEqual([]);
  });

  it('is taken where the project says so, unless the verifier was first', async () => {
    await open({ judge_model: null, accept_host_outcome: true });
    await scene.pipeline.verified('s', 1, 0);
    await scene.pipeline.ended(turn(0, { scores: [outcome] }), turn(1, { scores: [outcome] }));
    expect(scene.answers(0).map(({ turn_index, scores }) => [turn_index, (scores as Known[])[0]?.value])).toEqual([
      [0, 1],
      [1, 0],
    ]);
  });
});

describe('a turn of before there were judges', () => {
  it('is scored by checks as it was then; what is sent for it later changes its outcome only', async () => {
    await open({ judge_model: null, tier1_metrics: ['task_completion'], tier2_metrics: ['tool_correctness'] });
    const desk = await scene.desk();
    await scene.pipeline.ended(turn(0, { traces: [trace('t0', { spans: [call('x', { status: 'ERROR', error: 'no' })] })] }));
    await scene.query(`UPDATE scoring.configs SET doc = doc - 'scoring'`);
    await scene.query(`DELETE FROM scoring.score_jobs`);
    await tierTwo();
    expect(scoresOf(last(2))).toEqual(['tool_correctness@t0 check scored 0']);
    await scene.pipeline.sent('s', 0, completion(0.1));
    expect(scene.answers(1)).toHaveLength(1);
    await scene.pipeline.verified('s', 0, 0.3);
    expect(scene.answers(0)).toMatchObject([{ scores: [{ value: 0.3, status: 'scored' }] }]);
    expect(await desk.all('judge')).toBe(0);
  });
});
