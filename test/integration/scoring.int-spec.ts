import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProjectSettingsPatch } from '#contracts';
import { TerminalError } from '#messaging';
import { createDataSource } from '#persistence';
import { eventually } from '#testing';
import { ScorePostedHandler } from '../../services/scoring/src/handlers/score-posted.handler.js';
import { TraceWait } from '../../services/scoring/src/handlers/trace-wait.js';
import { ScoreStore } from '../../services/scoring/src/postgres/score-store.js';
import { Pipeline } from './pipeline.js';

let pipeline: Pipeline;
const open = async (patch: ProjectSettingsPatch = {}): Promise<Pipeline> => (pipeline = await Pipeline.open(patch));
afterEach(() => pipeline.close());

const turn = (turn_index: number, answer: string, more: object = {}) => ({
  ...{ session_id: 's', turn_index, status: 'completed' },
  traces: [
    {
      trace_id: `t${turn_index}`,
      started_at: 1_790_000_000 + turn_index,
      input: 'where is my parcel',
      output: answer,
      spans: [],
    },
  ],
  ...more,
});
const answered = () =>
  pipeline
    .of('.trace.scored')
    .map(({ payload }) => ['turn_index', 'tier', 'answer'].map((name) => String(payload[name])).join(':'));

describe('a turn', () => {
  it('is stored once with its scores, and answered once, however often it comes', async () => {
    await open();
    await pipeline.ended(turn(0, 'it is here'), turn(1, 'still here'), turn(0, 'it is here'));
    await pipeline.ended(turn(1, 'still here'));
    expect(answered()).toEqual(['0:1:1', '1:1:1']);
    expect(await pipeline.db.query('SELECT count(*)::int AS n FROM scoring.turn_bodies')).toEqual([{ n: 2 }]);
    expect(await pipeline.db.query(`SELECT type FROM journal.events`)).toEqual([]);
  });
  it('keeps its first body: another one is journaled once, whether in the same batch or later', async () => {
    await open();
    await pipeline.ended(turn(0, 'first'), turn(0, 'second'));
    await pipeline.ended(turn(0, 'second'));
    await pipeline.ended(turn(0, 'third'));
    const [{ body } = { body: Buffer.alloc(0) }] = await pipeline.db.query<{ body: Buffer }>(
      'SELECT body FROM scoring.turn_bodies',
    );
    expect(body.toString()).toContain('first');
    expect(await pipeline.db.query(`SELECT type, t FROM journal.events`)).toEqual([
      { type: 'turn_conflict', t: 0 },
      { type: 'turn_conflict', t: 0 },
    ]);
  });
  it('is the same turn whatever id its event carries', async () => {
    await open();
    await pipeline.ended(turn(0, 'x', { event_id: 'one' }), turn(0, 'x', { event_id: 'two' }));
    expect(await pipeline.db.query(`SELECT 1 FROM journal.events`)).toEqual([]);
  });
  it('that carries and names no trace is reported at once, without tier scores', async () => {
    await open();
    await pipeline.ended({ session_id: 's', turn_index: 0 });
    expect(pipeline.of('.trace.scored')[0]?.payload).toMatchObject({ scores: [], pending: false, partial: false });
  });
  it('waits for traces that it names, then is scored on what is there, flagged partial', async () => {
    await open({ trace_wait_s: 0.2 });
    await pipeline.ended(turn(0, 'here', { trace_ids: ['t0', 'elsewhere'] }));
    expect(answered()).toEqual([]);
    await pipeline.scoringWork.run((tx) => pipeline.turnStore.answerOverdue(tx));
    expect(answered()).toEqual([]);
    await sleep(250);
    await pipeline.scoringWork.run((tx) => pipeline.turnStore.answerOverdue(tx));
    await pipeline.scoringWork.run((tx) => pipeline.turnStore.answerOverdue(tx));
    expect(pipeline.of('.trace.scored').map(({ payload }) => payload)).toMatchObject([
      { partial: true, scores: [{ metric: 'task_completion' }, { metric: 'coherence' }] },
    ]);
  });
  it('does not wait for traces that it carries itself', async () => {
    await open();
    await pipeline.ended(turn(0, 'here', { trace_ids: ['t0'] }));
    expect(answered()).toEqual(['0:1:1']);
  });
  it('answers a costlier tier once, on its last trace', async () => {
    await open();
    const call = { span_id: 'x', name: 'pay', kind: 'TOOL', status: 'ERROR', input: {}, error: 'no' };
    await pipeline.ended({
      ...turn(0, 'x'),
      traces: [
        { trace_id: 'a', started_at: 1 },
        { trace_id: 'b', started_at: 2, spans: [call] },
      ],
    });
    const request = { id: null, subject: 'fm.default.tier.requested', payload: { session_id: 's', turn_index: 0, tier: 2 } };
    await pipeline.give(request);
    await pipeline.give(request);
    const [second, ...rest] = pipeline.of('.trace.scored').filter(({ payload }) => payload['tier'] === 2);
    expect(rest).toEqual([]);
    expect(second?.payload['scores']).toMatchObject([
      { metric: 'tool_correctness', trace_id: 'b', value: 0 },
      { metric: 'argument_correctness', trace_id: 'b' },
    ]);
  });
});

describe('a turn whose body is stored apart', () => {
  const reference = (turn_index: number, hash: string) => ({ session_id: 's', turn_index, body_ref: hash.repeat(64) });
  const store = (hash: string, project: string, body: object): Promise<unknown> =>
    pipeline.db.query('INSERT INTO edge.bodies (hash, project, body) VALUES ($1, $2, $3)', [
      hash.repeat(64),
      project,
      Buffer.from(JSON.stringify(body)),
    ]);
  it('is read from there', async () => {
    await open();
    await store('a', 'default', turn(0, 'x'));
    await pipeline.ended(reference(0, 'a'), turn(1, 'y'));
    expect(answered()).toEqual(['0:1:1', '1:1:1']);
  });
  it('is not found in the bodies of another project', async () => {
    await open();
    await store('a', 'other', turn(0, 'x'));
    await expect(pipeline.ended(reference(0, 'a'))).rejects.toThrow('is not stored');
  });
  it.each([
    ['turn', turn(1, 'x')],
    ['session', turn(0, 'x', { session_id: 'another' })],
  ])('can never be that of another %s', async (_, body) => {
    await open();
    await store('a', 'default', body);
    await expect(pipeline.ended(reference(0, 'a'))).rejects.toThrow(TerminalError);
    expect(await pipeline.db.query('SELECT 1 FROM scoring.turns')).toEqual([]);
  });
});

describe('turns that have waited long enough', () => {
  it('are all answered, the one that cannot be scored without scores', async () => {
    await open({ trace_wait_s: 0.05 });
    const warned = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    await pipeline.ended(...Array.from({ length: 150 }, (_, index) => turn(index, 'here', { trace_ids: ['elsewhere'] })));
    await pipeline.db.query(`UPDATE scoring.turn_bodies SET body = '{"cut' WHERE t = 90`);
    // A verifier's answer that was written beside its turn, so that neither saw the other.
    await pipeline.db.query(
      `INSERT INTO scoring.posted_scores (s, t, project, session, trace, metric, value) SELECT s, t, project, 's', '', 'outcome_correct', 1 FROM scoring.turns WHERE t = 7`,
    );
    await sleep(100);
    const wait = new TraceWait(pipeline.scoringWork, pipeline.turnStore, new ScoreStore());
    await wait.tick();
    await wait.tick();
    const answers = pipeline.of('.trace.scored').map(({ payload }) => payload);
    expect(answers.filter(({ tier }) => tier === 1)).toHaveLength(150);
    expect(answers.filter(({ tier }) => tier === 0)).toMatchObject([{ turn_index: 7 }]);
    const failed = answers.filter(({ scores }) => (scores as unknown[]).length === 0);
    expect(failed).toMatchObject([{ session_id: 's', turn_index: 90, answer: 1, partial: true, pending: false, signals: [] }]);
    expect(await pipeline.db.query('SELECT 1 FROM scoring.turns WHERE wait_until IS NOT NULL OR NOT partial')).toEqual([]);
    expect(await pipeline.db.query('SELECT type, t, session FROM journal.events')).toEqual([
      { type: 'score_failed', t: 90, session: 's' },
    ]);
    expect(warned).toHaveBeenCalledTimes(1);
    warned.mockRestore();
  });
});

describe('a verifier', () => {
  const outcomes = () =>
    pipeline
      .of('.trace.scored')
      .filter(({ payload }) => payload['tier'] === 0)
      .map(({ payload }) => payload);
  it('may answer before its turn or after it; the answer attaches once', async () => {
    await open();
    await pipeline.verified('s', 0, 0.2);
    expect(outcomes()).toEqual([]);
    await pipeline.ended(turn(0, 'x'), turn(1, 'y'));
    await pipeline.verified('s', 1, 1);
    await pipeline.verified('s', 1, 1);
    expect(
      outcomes().map(({ turn_index, answer, scores }) => ({
        turn_index,
        answer,
        value: (scores as { value: number }[])[0]?.value,
      })),
    ).toEqual([
      { turn_index: 0, answer: 1, value: 0.2 },
      { turn_index: 1, answer: 1, value: 1 },
    ]);
  });
  it('that does not know is no breach', async () => {
    await open();
    await pipeline.ended(turn(0, 'x'));
    await pipeline.verified('s', 0, null);
    expect(outcomes()).toMatchObject([{ scores: [{ status: 'not_applicable', value: null }] }]);
  });
  const posted = (value: number, more: object = {}) =>
    pipeline.delivery({ session_id: 's', turn_index: 0, scores: [{ metric: 'outcome_correct', value, ...more }] });
  const values = () => pipeline.db.query('SELECT value FROM scoring.posted_scores');
  it('is taken by its first answer; another one is journaled, and the same one is none', async () => {
    await open();
    await pipeline.ended(turn(0, 'x'));
    const handler = new ScorePostedHandler(pipeline.scoringWork, new ScoreStore());
    await handler.handle([posted(1, { reason: 'good' })]);
    await handler.handle([posted(0.2), posted(0.2), posted(1, { reason: 'good, in other words' })]);
    await handler.handle([posted(0.2)]);
    expect(await values()).toEqual([{ value: 1 }]);
    expect(await pipeline.db.query('SELECT type, session, t, doc FROM journal.events')).toEqual([
      {
        ...{ type: 'score_conflict', session: 's', t: 0 },
        doc: { metric: 'outcome_correct', trace_id: null, kept: 1, refused: 0.2 },
      },
    ]);
  });
  it('that contradicts itself within a batch is taken by what came first in the stream', async () => {
    await open();
    const [first, second] = [posted(0.3), posted(0.9)];
    await new ScorePostedHandler(pipeline.scoringWork, new ScoreStore()).handle([second, first]);
    expect(await values()).toEqual([{ value: 0.3 }]);
    expect(await pipeline.db.query('SELECT doc FROM journal.events')).toMatchObject([{ doc: { kept: 0.3, refused: 0.9 } }]);
  });
  it('may send a long log as its reason, which travels cut', async () => {
    await open();
    await pipeline.ended(turn(0, 'x'));
    const handler = new ScorePostedHandler(pipeline.scoringWork, new ScoreStore());
    await handler.handle([posted(0, { reason: 'x'.repeat(100_000) })]);
    const [{ scores: [{ reason = '' } = {}] = [] } = {}] = outcomes() as { scores?: { reason?: string }[] }[];
    expect(reason).toHaveLength(2_000);
    expect(reason).toMatch(/^x+…\[truncated\]$/);
  });
  it('whose answer may have been missed is looked for without reading what is attached, or waits for turns that never come', async () => {
    await open();
    await pipeline.ended(turn(0, 'x'));
    await pipeline.db
      .query(`INSERT INTO scoring.turns (s, t, project, accepted_us, body_sha, config) SELECT s, n, project, 0, '', config FROM scoring.turns, generate_series(1, 3000) n;
      INSERT INTO scoring.posted_scores (s, t, project, session, trace, metric, value, attached) SELECT s, t, project, 's', n::text, 'style', 1, true FROM scoring.turns, generate_series(1, 5) n;
      INSERT INTO scoring.posted_scores (s, t, project, session, trace, metric, value, at) SELECT s, t + 5000, project, 's', n::text, 'style', 1, now() - interval '1 day' FROM scoring.turns, generate_series(1, 5) n`);
    await pipeline.db.query('ANALYZE scoring.posted_scores, scoring.turns');
    const read = await pipeline.scoringWork.run(async (tx) => {
      await new ScoreStore().attachStray(tx);
      const [row] = await tx.query<{ n: number }>(
        `SELECT (seq_tup_read + idx_tup_fetch)::int AS n FROM pg_stat_xact_user_tables WHERE relname = 'posted_scores'`,
      );
      return row?.n;
    });
    expect(read).toBeLessThan(100);
  });
});

describe('loop detection', () => {
  it('finds the same repetition in whatever order the turns come', async () => {
    const loops = async (...batches: number[][]): Promise<unknown> => {
      await open({ tier1_metrics: ['loop_detection'] });
      for (const batch of batches)
        await pipeline.ended(
          ...batch.map((index) =>
            turn(index, index < 2 ? 'please wait a moment while I look that up for you' : `answer ${index}`),
          ),
        );
      const rows = await pipeline.db.query(`SELECT t, value FROM scoring.scores WHERE metric = 'loop_detection' ORDER BY t`);
      const last = new Map(
        pipeline
          .of('.trace.scored')
          .map(({ payload }) => [payload['turn_index'], (payload['scores'] as { value: number }[])[0]?.value]),
      );
      expect(rows.map(({ t, value }) => [t, value])).toEqual([...last].sort((a, b) => Number(a[0]) - Number(b[0])));
      if (batches.length > 1) await pipeline.close();
      return rows;
    };
    const backwards = await loops([2], [1], [0]);
    const mixed = await loops([1, 2], [0]);
    const ordered = await loops([0, 1, 2]);
    expect(ordered).toMatchObject([{ t: 0, value: null }, { t: 1, value: 0 }, { t: 2 }]);
    expect(backwards).toEqual(ordered);
    expect(mixed).toEqual(ordered);
  });

  /** Runs `second` while turn 0, which comes late, is written but not committed yet. */
  const besideTheFirstTurn = async (second: () => Promise<unknown>): Promise<unknown> => {
    await pipeline.db
      .query(`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON scoring.turns DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.t = 0) EXECUTE FUNCTION hold()`);
    const blocked = async (): Promise<number> => {
      const [row] = await pipeline.db.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
      );
      return row?.n ?? 0;
    };
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let taken = (): void => undefined;
    const locked = new Promise<void>((resolve) => (taken = resolve));
    const other = await createDataSource({ url: pipeline.db.url, role: null, name: 'holder' }).initialize();
    const holder = other.transaction(async (manager) => {
      await manager.query('SELECT pg_advisory_xact_lock(7)');
      taken();
      await held;
    });
    await locked;
    const late = pipeline.ended(turn(0, 'please wait a moment while I look that up for you'));
    await eventually(async () => (await blocked()) === 1);
    const beside = second();
    await Promise.race([beside, eventually(async () => (await blocked()) === 2)]);
    release();
    await Promise.all([holder, late, beside]);
    await other.destroy();
    const last = pipeline.of('.trace.scored').findLast(({ payload }) => payload['turn_index'] === 1);
    return last?.payload['scores'];
  };
  const repeating = (more: object = {}) => turn(1, 'please wait a moment while I look that up for you', more);

  it('of a costlier tier does not miss a turn that is written beside it', async () => {
    await open({ tier2_metrics: ['loop_detection'] });
    await pipeline.ended(repeating());
    const request = { id: null, subject: 'fm.default.tier.requested', payload: { session_id: 's', turn_index: 1, tier: 2 } };
    expect(await besideTheFirstTurn(() => pipeline.give(request))).toMatchObject([{ metric: 'loop_detection', value: 0 }]);
  });

  it('of a turn that waited for traces does not miss one either', async () => {
    await open({ tier1_metrics: ['loop_detection'], trace_wait_s: 0.05 });
    await pipeline.ended(repeating({ trace_ids: ['elsewhere'] }));
    await sleep(100);
    const overdue = (): Promise<unknown> => pipeline.scoringWork.run((tx) => pipeline.turnStore.answerOverdue(tx));
    expect(await besideTheFirstTurn(overdue)).toMatchObject([{ metric: 'loop_detection', value: 0 }]);
  });
});
