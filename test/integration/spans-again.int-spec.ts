import { afterEach, describe, expect, it } from '@jest/globals';
import type { ProjectSettingsPatch, ReceivedSpan, Score } from '#contracts';
import { BEGIN, receiveIn, root, tool } from './received-spans.js';
import { saying, Scene } from './scene.js';

let scene: Scene;
const open = async (patch: ProjectSettingsPatch = {}): Promise<Scene> =>
  (scene = await Scene.open({ judge_model: null, ...patch }));
afterEach(() => scene.close());

const receive = (...spans: ReceivedSpan[]): Promise<void> => receiveIn(scene.pipeline, ...spans);
const named = (turn_index: number, ...trace_ids: string[]) => scene.pipeline.ended({ session_id: 's', turn_index, trace_ids });
const waitIsOver = async (): Promise<void> => {
  await scene.query(`UPDATE scoring.turns SET wait_until = now() - interval '1 second' WHERE wait_until IS NOT NULL`);
  await scene.pipeline.scoringWork.run((tx) => scene.pipeline.turnStore.answerOverdue(tx));
};
const asked = (tier: 2 | 3) => scene.pipeline.askedTogether([{ session_id: 's', turn_index: 0, tier }]);
const later = (trace: string): ReceivedSpan => root(trace, { started_at: BEGIN + 5_000, ended_at: BEGIN + 6_000 });
/** Number, pending, and the traces of each answer of a tier. */
const answers = (tier: number) =>
  scene.answers(tier).map(({ answer, pending, scores }) => {
    const traces = (scores as Score[]).map(({ trace_id: id }) => id);
    return [answer, pending, [...new Set(traces)].join()];
  });
const stored = (tier: number) =>
  scene.query('SELECT DISTINCT trace, status FROM scoring.scores WHERE tier = $1 ORDER BY 1, 2', [tier]);

describe('a costlier tier that looked at the last trace there was', () => {
  it('is answered again about the trace that is the last in truth, once', async () => {
    await open({ enable_tier3: true, tier3_metrics: ['step_efficiency'] });
    await named(0, 'a', 'b');
    await receive(root('a'), tool('a', 'x'));
    await waitIsOver();
    await asked(2);
    await asked(3);
    expect([answers(2), answers(3)]).toEqual([[[1, false, 'a']], [[1, false, 'a']]]);
    await receive(later('b'), tool('b', 'y', { started_at: BEGIN + 5_500 }));
    await receive(later('b'));
    await asked(2);
    expect(answers(2)).toEqual([
      [1, false, 'a'],
      [2, false, 'b'],
    ]);
    expect(answers(3)).toHaveLength(2);
    expect(await stored(2)).toEqual([{ trace: 'b', status: 'scored' }]);
    const told = await scene.query("SELECT doc FROM journal.events WHERE type = 'tier_again' ORDER BY doc->>'tier'");
    expect(told).toEqual([{ doc: { tier: 2, trace_id: 'b' } }, { doc: { tier: 3, trace_id: 'b' } }]);
  });

  it('is answered again when that trace was there in part, and is whole now', async () => {
    await open();
    await named(0, 'a');
    await receive(tool('a', 'x'));
    await waitIsOver();
    await asked(2);
    await receive(tool('a', 'y', { status: 'ERROR', error: 'no' }), root('a'));
    const values = scene.answers(2).map(({ scores }) => (scores as Score[])[0]?.value);
    expect(values).toEqual([1, 0.5]);
  });

  it('is not answered again when only earlier traces came', async () => {
    await open();
    await named(0, 'a', 'b');
    await receive(later('b'), tool('b', 'y'));
    await waitIsOver();
    await asked(2);
    await receive(root('a'));
    expect(answers(1)).toHaveLength(2);
    expect(answers(2)).toEqual([[1, false, 'b']]);
  });

  it('and was not asked for is not answered', async () => {
    await open();
    await named(0, 'a', 'b');
    await receive(root('a'), tool('a', 'x'));
    await waitIsOver();
    await receive(later('b'));
    expect(answers(2)).toEqual([]);
    await asked(2);
    expect(answers(2)).toEqual([[1, false, 'b']]);
  });

  it('stays what it was until the judge has seen the other trace; what the judge was at then counts for nothing', async () => {
    scene = await Scene.open({ tier1_metrics: ['loop_detection'], tier2_metrics: ['task_completion'] }, () => saying(0.8));
    const desk = await scene.desk();
    await named(0, 'a');
    await receive(tool('a', 'x'));
    await waitIsOver();
    await asked(2);
    expect(await desk.all('judge')).toBe(1);
    expect(answers(2)).toEqual([[1, false, 'a']]);
    const before = scene.models.requests.length;
    await scene.query("UPDATE scoring.scores SET status = 'pending', provider = 'judge:gpt-4o-mini' WHERE tier = 2");
    await scene.query(
      `INSERT INTO scoring.score_jobs (s, t, tier, provider, lane, project, round, expires_at, evals)
       SELECT s, t, 2, 'judge:gpt-4o-mini', 'judge', 'default', 0, now() + interval '1 hour', 1 FROM scoring.turns`,
    );
    const held = await desk.take('judge');
    expect(held).toHaveLength(1);
    await receive(root('a'));
    await desk.run('judge', held);
    expect(answers(2)).toEqual([[1, false, 'a']]);
    expect(await stored(2)).toEqual([{ trace: 'a', status: 'pending' }]);
    expect(await desk.all('judge')).toBe(1);
    expect(answers(2)).toEqual([
      [1, false, 'a'],
      [2, false, 'a'],
    ]);
    // The task was extracted anew: it was another trace.
    expect(scene.models.requests.length).toBeGreaterThan(before + 1);
    expect(await scene.jobs()).toBe(0);
  });

  it('is answered with the rest pending when the judge takes too long', async () => {
    scene = await Scene.open({ tier1_metrics: ['loop_detection'], tier2_metrics: ['task_completion'] });
    const desk = await scene.desk();
    await named(0, 'a');
    await receive(tool('a', 'x'));
    await waitIsOver();
    await asked(2);
    await desk.all('judge');
    await receive(root('a'));
    await scene.query('UPDATE scoring.tier_waits SET until = now()');
    expect(await desk.store.answerDue()).toBe(1);
    await desk.all('judge');
    expect(answers(2)).toEqual([
      [1, false, 'a'],
      [2, true, 'a'],
      [3, false, 'a'],
    ]);
  });
});

describe('the gate', () => {
  it('reports what the costlier tier says of the trace that is the last in truth', async () => {
    await open();
    await named(0, 'well');
    await receive(root('well'), tool('well', 'x'));
    await named(1, 'a', 'b');
    await receive(root('a'), tool('a', 'x', { status: 'ERROR', error: 'declined' }));
    await waitIsOver();
    await scene.pipeline.settle();
    const reports = () =>
      scene.pipeline
        .of('.turn.evaluated')
        .flatMap(({ payload }) =>
          payload['turn_index'] === 1 ? [payload as unknown as { revision: number; scores: (Score & { tier: number })[] }] : [],
        );
    const costlier = () =>
      reports().map(({ scores }) => scores.filter(({ tier }) => tier === 2).map(({ trace_id: id, value }) => [id, value]));
    expect(costlier()[0]?.[0]).toEqual(['a', 0]);
    await receive(later('b'), tool('b', 'y', { started_at: BEGIN + 5_500 }));
    await scene.pipeline.settle();
    expect(costlier().at(-1)?.[0]).toEqual(['b', 1]);
    expect(reports().map(({ revision }) => revision)).toEqual(reports().map((_, at) => at + 1));
  });
});
