import { afterEach, describe, expect, it } from '@jest/globals';
import type { ProjectSettingsPatch } from '#contracts';
import { acceptedTurn } from '../../services/scoring/src/accepted-turn.js';
import { decodeTurn } from '../../services/scoring/src/decode-turn.js';
import { Scene, turn } from './scene.js';

let scene: Scene;
const open = async (patch: ProjectSettingsPatch): Promise<void> => {
  scene = await Scene.open({ judge_model: null, ...patch });
};
afterEach(() => scene.close());

const HOUR_US = 3_600_000_000;
const now = Date.now() * 1_000;
const turns = (...indices: number[]): object[] => indices.map((index) => turn(index));
/** Turns that were scored, and why the others were not, as the table keeps it. */
const decided = async (session = 's'): Promise<string[]> => {
  const rows = await scene.query<{ t: number; skipped: string | null }>(
    'SELECT t.t, t.skipped FROM scoring.turns t JOIN scoring.sessions x USING (s) WHERE x.session = $1 ORDER BY t.t',
    [session],
  );
  return rows.map(({ t, skipped }) => `${t}:${skipped ?? 'scored'}`);
};

describe('sampling', () => {
  it('takes turns 1, N + 1 and 2 N + 1 of each session, over batches, and keeps what it decided when turns come again', async () => {
    await open({ eval_sample_every: 3 });
    await scene.pipeline.ended(...turns(0, 1), turn(0, { session_id: 'z' }));
    await scene.pipeline.ended(...turns(1, 2, 3));
    await scene.pipeline.ended(...turns(0, 3, 4));
    await scene.pipeline.ended(...turns(5, 6, 7));
    const expected = ['0:scored', '1:sampling', '2:sampling', '3:scored', '4:sampling', '5:sampling', '6:scored', '7:sampling'];
    expect(await decided()).toEqual(expected);
    expect(await decided('z')).toEqual(['0:scored']);
    await scene.pipeline.ended(...turns(0, 1, 2, 3, 4, 5, 6, 7));
    expect(await decided()).toEqual(expected);
    expect(scene.answers()).toHaveLength(9);
    expect(await scene.journal()).toEqual(Array(5).fill('turn_skipped'));
  });

  it('counts in the order in which turns were accepted, within a batch too', async () => {
    await open({ eval_sample_every: 2 });
    await scene.pipeline.endedAt({ turn: turn(0), at: now + 3 }, { turn: turn(1), at: now + 2 }, { turn: turn(2), at: now + 1 });
    expect(await decided()).toEqual(['0:scored', '1:sampling', '2:scored']);
  });

  it('is the same when two processes take turns of one session side by side', async () => {
    await open({ eval_sample_every: 4 });
    const second = await scene.pipeline.anotherProcess();
    for (let index = 0; index < 20; index += 2) await Promise.all([scene.pipeline.ended(turn(index)), second(turn(index + 1))]);
    expect((await decided()).filter((line) => line.endsWith('scored'))).toHaveLength(5);
  });
});

describe('a session whose turns are counted', () => {
  it('costs a turn no more when it is long', async () => {
    await open({ eval_sample_every: 2 });
    await scene.pipeline.ended(turn(0));
    await scene.query(
      `INSERT INTO scoring.turns (s, t, project, accepted_us, body_sha, config, answered_1) SELECT s, n, project, accepted_us, body_sha, config, 1 FROM scoring.turns, generate_series(1, 5000) n`,
    );
    await scene.query('UPDATE scoring.sessions SET turns_seen = 5001');
    await scene.query('ANALYZE scoring.turns');
    const rows = await scene.pipeline.scoringWork.run(async (tx) => {
      // So small a table is read as a whole for a few rows of it.
      await tx.query('SET LOCAL enable_seqscan = off');
      const decoded = decodeTurn(Buffer.from(JSON.stringify(turn(6000))));
      if (!decoded.ok || !('turn' in decoded.payload)) throw new Error('not decoded');
      const { turn: one, body } = decoded.payload;
      await scene.pipeline.turnStore.accept(tx, [
        await scene.pipeline.setup.configure(acceptedTurn(scene.pipeline.delivery({}), one, body)),
      ]);
      return tx.query<{ n: number }>(
        `SELECT (seq_tup_read + idx_tup_fetch)::int AS n FROM pg_stat_xact_user_tables WHERE relname = 'turns'`,
      );
    });
    expect(rows[0]?.n).toBeLessThan(20);
    expect((await decided()).at(-1)).toBe('6000:sampling');
  });

  it('counts the turns that it had when counting was switched on', async () => {
    await open({});
    await scene.pipeline.ended(...turns(0, 1, 2));
    await scene.settings('default', 2, { judge_model: null, eval_sample_every: 3 });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await scene.pipeline.ended(...turns(3, 4));
    await scene.pipeline.ended(...turns(5, 6));
    expect((await decided()).slice(3)).toEqual(['3:scored', '4:sampling', '5:sampling', '6:scored']);
    expect(await scene.query('SELECT turns_seen FROM scoring.sessions')).toEqual([{ turns_seen: 7 }]);
  });
});

describe('a rate', () => {
  it('admits what comes exactly the interval later, counted from the last admitted turn', async () => {
    await open({ session_min_eval_interval_s: 1.1 });
    const at = (seconds: number): number => now + Math.round(seconds * 1e6);
    await scene.pipeline.endedAt({ turn: turn(0), at: at(0) }, { turn: turn(1), at: at(1.099999) });
    await scene.pipeline.endedAt({ turn: turn(2), at: at(1.1) }, { turn: turn(3), at: at(2.199999) });
    await scene.pipeline.endedAt({ turn: turn(4), at: at(2.2) });
    expect(await decided()).toEqual(['0:scored', '1:rate', '2:scored', '3:rate', '4:scored']);
  });
});

describe('a budget of turns', () => {
  it('holds over batches and processes, for its window; then it begins anew', async () => {
    await open({ max_evals: 7, budget_window_h: 2 });
    const second = await scene.pipeline.anotherProcess();
    const batch = (from: number): object[] =>
      Array.from({ length: 5 }, (_, index) => turn(0, { session_id: `s${from + index}` }));
    await Promise.all(
      [0, 5, 10, 15].map((from) => (from % 10 === 0 ? scene.pipeline.ended(...batch(from)) : second(...batch(from)))),
    );
    const skipped = (): Promise<Record<string, unknown>[]> =>
      scene.query(`SELECT coalesce(skipped, 'scored') AS why, count(*)::int AS n FROM scoring.turns GROUP BY 1 ORDER BY 1`);
    expect(await skipped()).toEqual([
      { why: 'budget', n: 13 },
      { why: 'scored', n: 7 },
    ]);
    expect(await scene.journal()).toEqual(['turn_skipped']);
    expect(await scene.query('SELECT admitted, skipped FROM scoring.budgets')).toEqual([{ admitted: 7, skipped: 13 }]);
    await scene.query(`UPDATE scoring.budgets SET window_from = window_from - interval '2 hours'`);
    await scene.pipeline.ended(...batch(20));
    await scene.pipeline.ended(...batch(25));
    expect(await skipped()).toEqual([
      { why: 'budget', n: 16 },
      { why: 'scored', n: 14 },
    ]);
    expect(await scene.journal()).toEqual(['turn_skipped', 'turn_skipped']);
  });

  it('is asked before sampling, and sampling before rate', async () => {
    await open({ max_evals: 2, eval_sample_every: 2, session_min_eval_interval_s: 3_600 });
    for (let index = 0; index < 5; index += 1)
      await scene.pipeline.endedAt({ turn: turn(index), at: now + (index * HOUR_US) / 2.5 });
    // 0 is scored; 1 is not sampled; 2 comes too soon; 3 is not sampled; 4 is scored and spends the budget.
    expect(await decided()).toEqual(['0:scored', '1:sampling', '2:rate', '3:sampling', '4:scored']);
    await scene.pipeline.endedAt({ turn: turn(5), at: now + 9 * HOUR_US });
    expect((await decided()).at(-1)).toBe('5:budget');
  });

  it('of one project is nothing to another', async () => {
    await open({ max_evals: 1 });
    await scene.project('other', { max_evals: 1 });
    await scene.pipeline.ended(...turns(0, 1));
    scene.pipeline.project = 'other';
    await scene.pipeline.ended(...turns(0, 1));
    expect(await scene.query('SELECT project, t, skipped FROM scoring.turns ORDER BY project, t')).toEqual([
      { project: 'default', t: 0, skipped: null },
      { project: 'default', t: 1, skipped: 'budget' },
      { project: 'other', t: 0, skipped: null },
      { project: 'other', t: 1, skipped: 'budget' },
    ]);
  });
});

describe('a skipped turn', () => {
  it('is reported without scores, and neither alerts nor recovers', async () => {
    await open({ eval_sample_every: 2, tier1_metrics: ['task_completion'], gate_window: 1 });
    const bad = { traces: [{ trace_id: 'b', started_at: 1, input: 'do it', spans: [], status: 'ERROR' }], status: 'error' };
    await scene.pipeline.ended(turn(0), turn(1, bad), turn(2, bad), turn(3));
    await scene.pipeline.settle();
    const reports = scene.pipeline.of('.turn.evaluated').map(({ payload }) => payload);
    const last = new Map(reports.map((report) => [report['turn_index'], report]));
    expect(last.get(1)).toMatchObject({ complete: true, scores: [], skipped: 'sampling' });
    expect(last.get(2)).toMatchObject({ signatures: expect.arrayContaining(['regression:task_completion']) });
    expect(last.get(3)).toMatchObject({ complete: true, scores: [], skipped: 'sampling' });
    expect(scene.pipeline.of('.session.recovered')).toEqual([]);
    expect(scene.pipeline.of('.notice.posted').map(({ payload }) => payload['turn_index'])).toEqual([2]);
  });

  it('that named traces does not wait for them', async () => {
    await open({ eval_sample_every: 2 });
    await scene.pipeline.ended(turn(0), turn(1, { trace_ids: ['elsewhere'] }));
    expect(scene.answers().find(({ turn_index }) => turn_index === 1)).toMatchObject({ skipped: 'sampling' });
    expect(await scene.query('SELECT 1 FROM scoring.turns WHERE wait_until IS NOT NULL')).toEqual([]);
  });

  it('makes no jobs, whatever was sent for it', async () => {
    await open({ judge_model: 'gpt-4o-mini', eval_sample_every: 2 });
    await scene.pipeline.sent('s', 1, { metric: 'task_completion', value: 0.1 });
    await scene.pipeline.ended(turn(0), turn(1, { scores: [{ metric: 'coherence', value: 0.2 }] }));
    await scene.pipeline.sent('s', 1, { metric: 'coherence', value: 0.3 });
    expect(await scene.query('SELECT t FROM scoring.score_jobs WHERE lane = $1', ['judge'])).toEqual([{ t: 0 }]);
    expect(await scene.query('SELECT 1 FROM scoring.scores WHERE t = 1')).toEqual([]);
    expect(scene.answers().filter(({ turn_index }) => turn_index === 1)).toMatchObject([{ answer: 1, skipped: 'sampling' }]);
  });
});
