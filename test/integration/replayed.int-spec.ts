import { afterEach, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import type { Script } from '#testing';
import { InfrastructureError } from '#messaging';
import { ValueTask } from '../../services/scoring/src/jobs/value-task.js';
import type { JobResult } from '../../services/scoring/src/postgres/job-results.js';
import type { JobDesk } from './job-desk.js';
import { asks, call, saying, Scene, trace } from './scene.js';

let scene: Scene;
afterEach(() => scene.close());

/** A judge whose word depends on what it is shown alone. */
const judge: Script = (request) => {
  const shown = JSON.stringify(request.body);
  const about = /item (\d+)/.exec(shown)?.[1] ?? '';
  const digits =
    createHash('sha256')
      .update(`${asks(request)} ${about}`)
      .digest()
      .readUInt16BE() % 11;
  return saying(digits / 10, {
    task: `item ${about}`,
    outcome: `item ${about} is done`,
    asked: `item ${about}`,
    called: [],
    available: [],
  });
};
const SESSIONS = ['a', 'b', 'c'];
const TURNS = 6;
const turns = SESSIONS.flatMap((session_id, index) =>
  Array.from({ length: TURNS }, (_, turn_index) => {
    const item = { input: `item ${index * 100 + turn_index}`, output: `item ${index * 100 + turn_index} is done` };
    const traces = [trace(`${session_id}${turn_index}`, { ...item, spans: [call(`x${turn_index}`)] })];
    return { session_id, turn_index, status: 'completed', traces };
  }),
);
const patch = {
  tier1_metrics: ['task_completion', 'coherence', 'loop_detection'],
  tier2_metrics: ['tool_correctness'],
  gate_window: 2,
  gate_target: 0.9,
  gate_drop: 0.1,
  confirm_breach: false,
};
/** Posted beside the turns: outcomes, and a host's word about a metric that a judge makes. */
const posts: [string, number, object][] = [
  ['a', 2, { metric: 'outcome_correct', value: 0.2 }],
  ['b', 3, { metric: 'outcome_correct', value: 1 }],
  ['b', 2, { metric: 'task_completion', value: 0.15 }],
  ['c', 1, { metric: 'task_completion', value: 0.95, trace_id: 'c1' }],
  ['c', 1, { metric: 'task_completion', value: 0.55 }],
  ['c', 3, { metric: 'task_completion', value: 0.05, trace_id: 'no such trace' }],
  ['a', 4, { metric: 'coherence', value: 0.05, trace_id: 'a4' }],
];

/** Same seed, same order. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

async function outcome(): Promise<unknown> {
  const scores = await scene.query(
    `SELECT x.session, c.t, c.tier, c.trace, c.metric, c.source, c.value FROM scoring.scores c JOIN scoring.sessions x USING (s)
     WHERE c.status = 'scored' ORDER BY 1, 2, 3, 4, 5, 6`,
  );
  const folds = await scene.query(
    `SELECT h.session, e.t, e.state, e.fired, e.standing FROM gating.turn_evals e JOIN gating.heads h USING (s) ORDER BY 1, 2`,
  );
  const heads = await scene.query('SELECT session, last_t, state, alerting FROM gating.heads ORDER BY 1');
  const notices = await scene.query(
    `SELECT session, t, signatures FROM mailbox.notices WHERE status <> 'corrected' ORDER BY session, t, signatures`,
  );
  return { scores, folds, heads, notices };
}

async function finish(desk: JobDesk): Promise<void> {
  for (let left = 20; left > 0; left -= 1) {
    await scene.pipeline.settle();
    if ((await desk.all('judge')) === 0 && left < 19) break;
  }
  await scene.pipeline.settle();
}

async function clean(): Promise<unknown> {
  scene = await Scene.open(patch, judge);
  const desk = await scene.desk();
  for (const turn of turns) {
    await scene.pipeline.ended(turn);
    for (const [session, index, score] of posts)
      if (session === turn.session_id && index === turn.turn_index) await scene.pipeline.sent(session, index, score);
    await finish(desk);
  }
  return outcome();
}

async function shuffled(seed: number): Promise<unknown> {
  scene = await Scene.open({ ...patch, report_wait_s: 0 }, judge);
  const [one, two] = [await scene.desk(), await scene.desk()];
  const next = random(seed);
  const steps = [...turns, ...turns, ...turns].map((turn) => () => scene.pipeline.ended(turn));
  for (const [session, index, score] of posts)
    for (let times = 0; times < 3; times += 1) steps.push(() => scene.pipeline.sent(session, index, score));
  const order = steps.map((step) => ({ step, at: next() })).sort((a, b) => a.at - b.at);
  for (const { step } of order) {
    await step();
    const what = next();
    if (what < 0.2) await Promise.all([one.once('judge', 2), two.once('judge', 2)]);
    else if (what < 0.3) await one.store.answerDue();
    else if (what < 0.4)
      await scene.query(`UPDATE scoring.score_jobs SET leased_until = now() - interval '1 s' WHERE lease IS NOT NULL`);
    else if (what < 0.5) await two.take('judge', 1);
    else if (what < 0.7) await scene.pipeline.settle(() => next() < 0.3);
    const event = scene.pipeline.events[Math.floor(next() * scene.pipeline.events.length)];
    if (event !== undefined && next() < 0.5) await scene.pipeline.give(event);
  }
  await scene.query(`UPDATE scoring.score_jobs SET leased_until = now() - interval '1 s' WHERE lease IS NOT NULL`);
  await finish(one);
  expect(await scene.jobs()).toBe(0);
  expect(await scene.query('SELECT 1 FROM scoring.tier_waits')).toEqual([]);
  return outcome();
}

describe('turns, questions, scores and jobs', () => {
  it('in any order, three times each, with workers that die, come to the same scores, states and notices as in order, once', async () => {
    const expected = await clean();
    expect(JSON.stringify(expected)).toContain('breach:tool_correctness');
    for (const seed of [1, 2]) {
      await scene.close();
      expect(await shuffled(seed)).toEqual(expected);
    }
  });
});

describe('a worker that loses the database while its result is being committed', () => {
  it('saves once more, and the values, their cost and the answer count once', async () => {
    scene = await Scene.open();
    const desk = await scene.desk();
    await scene.pipeline.ended(turns[0] ?? {});
    const [job] = await desk.take('judge');
    if (job === undefined) throw new Error('no job');
    let saved = 0;
    const save = async (result: JobResult): Promise<void> => {
      await desk.store.save(result);
      saved += 1;
      if (saved === 1) throw new InfrastructureError('database', new Error('connection lost after COMMIT'));
    };
    const spent = { model: 'gpt-4o-mini', calls: 2, inputTokens: 10, outputTokens: 5, costUsd: 0.01, latencyMs: 1 };
    const outcome = { status: 'scored', value: 0.7, reason: 'yes', code: 'ok', spans: [] } as const;
    const evaluator = { evaluate: () => Promise.resolve({ outcome, evaluator: 'judge/x', promptHash: 'x', spent, asked: true }) };
    const task = new ValueTask({ save }, evaluator, () => undefined);
    await task.run(job, (evaluation) => evaluation(), new AbortController().signal);
    expect(saved).toBe(2);
    expect(await scene.query('SELECT evals, calls, cost_usd FROM scoring.usage')).toEqual([
      { evals: 1, calls: 2, cost_usd: 0.01 },
    ]);
    expect(await scene.query('SELECT cost_usd FROM scoring.spend')).toEqual([{ cost_usd: 0.01 }]);
    expect(scene.answers()).toMatchObject([{ answer: 1, scores: [{ value: 0.7 }] }]);
    expect(await scene.jobs()).toBe(0);
  });
});
