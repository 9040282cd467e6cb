import { afterEach, describe, expect, it } from '@jest/globals';
import type { ProjectSettingsPatch, ReceivedSpan } from '#contracts';
import { Pipeline } from './pipeline.js';
import { of, quietIn, receiveIn, root, span, tool } from './received-spans.js';

let pipeline: Pipeline;
const open = async (patch: ProjectSettingsPatch = {}): Promise<Pipeline> => (pipeline = await Pipeline.open(patch));
afterEach(() => pipeline.close());

const receive = (...spans: ReceivedSpan[]): Promise<void> => receiveIn(pipeline, ...spans);
const answers = () => pipeline.of('.trace.scored').map(({ payload }) => payload);
const ended = (turn: object) => pipeline.ended({ session_id: 's', turn_index: 0, ...turn });
const waitIsOver = async (): Promise<void> => {
  await pipeline.db.query(`UPDATE scoring.turns SET wait_until = now() - interval '1 second' WHERE wait_until IS NOT NULL`);
  await pipeline.scoringWork.run((tx) => pipeline.turnStore.answerOverdue(tx));
};
const carried = async (): Promise<Record<string, unknown>[]> => {
  const [row] = await pipeline.db.query<{ body: Buffer }>('SELECT body FROM scoring.turn_bodies');
  const turn = JSON.parse(String(row?.body)) as { traces?: { trace_id: string; spans: unknown[] }[] };
  return (turn.traces ?? []).map(({ trace_id, spans }) => ({ trace_id, spans: spans.length }));
};
const turn = () => pipeline.db.query('SELECT partial FROM scoring.turns');

describe('a trace that was there in part when its turn was scored', () => {
  it('takes the place of the part when it is whole, and the turn is answered again, once', async () => {
    await open();
    await ended({ trace_ids: ['a'] });
    await receive(tool('a', 'x'));
    await waitIsOver();
    expect(answers()).toMatchObject([{ answer: 1, partial: true }]);
    expect(await carried()).toEqual([{ trace_id: 'a', spans: 1 }]);
    await receive(tool('a', 'y'));
    expect(answers()).toHaveLength(1);
    await receive(root('a'));
    expect(answers()[1]).toMatchObject({ answer: 2, partial: false, scores: [{ trace_id: 'a', value: 1 }, {}] });
    expect(await carried()).toEqual([{ trace_id: 'a', spans: 3 }]);
    expect(await turn()).toEqual([{ partial: false }]);
    await receive(root('a'));
    await receive(tool('a', 'late'));
    expect(answers()).toHaveLength(2);
    expect(await pipeline.db.query('SELECT span_id FROM scoring.otel_spans WHERE late')).toEqual([{ span_id: 'late' }]);
  });
  it('is whole when a span has ended that had only begun', async () => {
    await open();
    await ended({ trace_ids: ['a'] });
    await receive(root('a', { ended_at: null, output: null }));
    await waitIsOver();
    await receive(root('a'));
    expect(answers()).toMatchObject([{ partial: true }, { answer: 2, partial: false }]);
  });
  it('makes each turn whole that names it', async () => {
    await open();
    await ended({ trace_ids: ['a'] });
    await receive(tool('a', 'x'));
    await waitIsOver();
    await ended({ turn_index: 1, trace_ids: ['a'] });
    await receive(root('a'));
    expect(answers()).toMatchObject([
      { turn_index: 0, partial: true },
      { turn_index: 1, partial: false },
      { turn_index: 0, answer: 2, partial: false },
    ]);
  });
});

describe('a turn with more traces than one read may take', () => {
  it.each([
    ['bytes', 64 * 1024 * 1024 + 1],
    ['spans', 20_001],
  ])('is scored without one that is too large by its %s, and says so', async (column, size) => {
    await open();
    await receive(root('a'), root('b'));
    await pipeline.db.query(`UPDATE scoring.otel_traces SET ${column} = $1 WHERE trace_id = 'a'`, [size]);
    await ended({ trace_ids: ['a', 'b'] });
    expect(answers()).toMatchObject([{ partial: true, scores: [{ trace_id: 'b' }, { trace_id: 'b' }] }]);
    expect(await pipeline.db.query('SELECT trace_id, reason FROM scoring.otel_traces ORDER BY 1')).toEqual([
      { trace_id: 'a', reason: expect.stringContaining('too large') },
      { trace_id: 'b', reason: null },
    ]);
    await receive(tool('a', 'x'));
    expect(answers()).toHaveLength(1);
  });
  it('is scored with those that fit together', async () => {
    await open();
    await receive(root('a'), root('b'), root('c'));
    await pipeline.db.query(`UPDATE scoring.otel_traces SET bytes = 30 * 1024 * 1024`);
    await ended({ trace_ids: ['a', 'b', 'c'] });
    expect(answers()).toMatchObject([{ partial: true, scores: [{ trace_id: 'a' }, {}, { trace_id: 'b' }, {}] }]);
  });
});

describe('overdue turns', () => {
  it('are read in groups that fit into memory, and all answered', async () => {
    await open();
    for (const at of [0, 1, 2]) await ended({ turn_index: at, trace_ids: [`t${at}`] });
    await receive(...[0, 1, 2].map((at) => tool(`t${at}`, 'x')));
    await pipeline.db.query(`UPDATE scoring.otel_traces SET bytes = 40 * 1024 * 1024`);
    await waitIsOver();
    expect(answers().map(({ turn_index: t, partial }) => [t, partial])).toEqual([0, 1, 2].map((t) => [t, true]));
  });
});

describe('names of traces', () => {
  const id = 'abcdef0123456789abcdef0123456789';
  it('are those of spans in whichever case they are written', async () => {
    await open();
    await ended({ trace_ids: [id.toUpperCase(), id] });
    await receive(root(id));
    expect(answers()).toMatchObject([{ partial: false, scores: [{ trace_id: id }, {}] }]);
  });
  it('in a later body do not make a turn partial that has been scored whole', async () => {
    await open();
    await ended({ traces: [{ trace_id: 'b', started_at: 1, input: 'where', output: 'there', spans: [] }] });
    await ended({ trace_ids: ['never'] });
    expect(await turn()).toEqual([{ partial: false }]);
  });
});

describe('turns and traces', () => {
  it('are locked in one order by spans, turns and quiet traces that come at once', async () => {
    await open({ otlp_turns: 'root_span', max_evals: 1_000_000 });
    for (let round = 0; round < 10; round += 1) {
      const names = ['p', 'q', 'r'].map((name) => `${name}${round}`);
      await receive(...names.map((name) => root(name, of('s'))));
      await Promise.all([
        ended({ turn_index: 2 * round, trace_ids: names }),
        quietIn(pipeline),
        receive(...[...names].reverse().map((name) => span(name, 'more'))),
        ended({ turn_index: 2 * round + 1, trace_ids: [...names].reverse() }),
      ]);
    }
    expect(await deadlocks()).toBe(0);
  });
});

/** Connections tell what they met when they end. */
async function deadlocks(): Promise<number> {
  const others = 'FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
  await pipeline.db.query(`SELECT pg_terminate_backend(pid) ${others}`);
  while ((await pipeline.db.query(`SELECT 1 ${others}`)).length > 0);
  const [row] = await pipeline.db.query<{ n: number }>(
    'SELECT deadlocks::int AS n FROM pg_stat_database WHERE datname = current_database()',
  );
  return row?.n ?? -1;
}
