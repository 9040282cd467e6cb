import { afterEach, describe, expect, it } from '@jest/globals';
import type { Transaction } from '#persistence';
import { call, Scene, trace, turn } from './scene.js';

let scene: Scene;
afterEach(() => scene.close());

/** Statements that scoring's handlers send while `work` runs, apart from those of every transaction. */
async function statements(work: () => Promise<unknown>): Promise<string[]> {
  const { scoringWork } = scene.pipeline;
  const run = scoringWork.run.bind(scoringWork);
  const sent: string[] = [];
  scoringWork.run = (inside) =>
    run((tx) => {
      const query: Transaction['query'] = (sql, parameters) => {
        sent.push(sql.trim().slice(0, 60));
        return tx.query(sql, parameters);
      };
      return inside({ ...tx, query });
    });
  await work();
  scoringWork.run = run;
  return sent;
}
const batch = (from: number, to: number): object[] =>
  Array.from({ length: to - from }, (_, index) =>
    turn(from + index, { session_id: `s${(from + index) % 7}`, traces: [trace(`t${from + index}`, { spans: [call('x')] })] }),
  );

describe('a batch of turns', () => {
  it('that checks alone score costs no more than before there were judges, two statements aside, whatever its size', async () => {
    scene = await Scene.open({ judge_model: null, tier1_metrics: ['task_completion', 'coherence'] });
    // The first turn of a project without a verifier looks for one.
    await scene.pipeline.ended(turn(0, { session_id: 'first' }));
    const one = await statements(() => scene.pipeline.ended(...batch(0, 1)));
    const many = await statements(() => scene.pipeline.ended(...batch(1, 101)));
    // Configurations, sessions, turns, bodies, scores sent before, scores.
    expect(one.length).toBeLessThanOrEqual(6 + 2);
    expect(many).toEqual(one);
    expect(scene.answers()).toHaveLength(102);
  });

  it('that a judge scores, of limited projects too, costs the same whatever its size', async () => {
    scene = await Scene.open({ max_evals: 1_000, max_cost_usd: 10, eval_sample_every: 2, session_min_eval_interval_s: 0.0001 });
    await scene.pipeline.ended(turn(0, { session_id: 'first' }));
    const some = await statements(() => scene.pipeline.ended(...batch(0, 14)));
    const many = await statements(() => scene.pipeline.ended(...batch(14, 140)));
    expect(many).toEqual(some);
    expect(many.length).toBeLessThanOrEqual(16);
  });
});

describe('a batch of anything else', () => {
  it('costs the same whatever its size: sent scores, questions for tiers, time-outs', async () => {
    scene = await Scene.open({ tier2_metrics: ['tool_correctness'], report_wait_s: 0 });
    await scene.pipeline.ended(...batch(0, 60));
    const send = (from: number, to: number) => () =>
      scene.pipeline.sentTogether(
        Array.from({ length: to - from }, (_, index) => ({
          ...{ session_id: `s${(from + index) % 7}`, turn_index: from + index },
          scores: [
            { metric: 'outcome_correct', value: 1 },
            { metric: 'task_completion', value: 1, trace_id: `t${from + index}` },
          ],
        })),
      );
    const two = await statements(send(0, 2));
    expect(await statements(send(2, 40))).toEqual(two);
    expect(scene.answers(0)).toHaveLength(40);
    const ask = (from: number, to: number) => () =>
      scene.pipeline.askedTogether(
        Array.from({ length: to - from }, (_, index) => ({
          session_id: `s${(from + index) % 7}`,
          turn_index: from + index,
          tier: 2,
        })),
      );
    const asked = await statements(ask(0, 2));
    expect(await statements(ask(2, 40))).toEqual(asked);
    const desk = await scene.desk();
    expect(await desk.store.answerDue()).toBe(60);
  });
});

describe('a tier that is asked for twice at once', () => {
  it('is opened once', async () => {
    scene = await Scene.open({ tier2_metrics: ['tool_correctness'] });
    await scene.pipeline.ended(...batch(0, 1));
    await scene.query(
      `CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END $$;
       CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON scoring.tier_waits DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold()`,
    );
    const ask = () => scene.pipeline.askedTogether([{ session_id: 's0', turn_index: 0, tier: 2 }]);
    await Promise.all([ask(), ask(), ask()]);
    // Nobody has written these rows again.
    expect(await scene.query(`SELECT xmax::text FROM scoring.scores WHERE tier = 2`)).toEqual([{ xmax: '0' }]);
  });
});
