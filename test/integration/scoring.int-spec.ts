import { afterEach, describe, expect, it } from '@jest/globals';
import type { ProjectSettingsPatch } from '#contracts';
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
    await new Promise((resolve) => setTimeout(resolve, 250));
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
});
