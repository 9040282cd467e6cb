import { afterEach, describe, expect, it } from '@jest/globals';
import type { ProjectSettingsPatch, ReceivedSpan } from '#contracts';
import { SpansReceivedHandler } from '../../services/scoring/src/handlers/spans-received.handler.js';
import { Pipeline } from './pipeline.js';
import { BEGIN, of, quietIn, receiveIn, root, span, tool } from './received-spans.js';

let pipeline: Pipeline;
const open = async (patch: ProjectSettingsPatch = {}): Promise<Pipeline> => (pipeline = await Pipeline.open(patch));
afterEach(() => pipeline.close());

const receive = (...spans: ReceivedSpan[]): Promise<void> => receiveIn(pipeline, ...spans);
const quiet = (): Promise<void> => quietIn(pipeline);
const waitIsOver = async (): Promise<void> => {
  await pipeline.db.query(`UPDATE scoring.turns SET wait_until = now() - interval '1 second' WHERE wait_until IS NOT NULL`);
  await pipeline.scoringWork.run((tx) => pipeline.turnStore.answerOverdue(tx));
};
const answers = () => pipeline.of('.trace.scored').map(({ payload }) => payload);
const traces = () =>
  pipeline.db.query('SELECT trace_id, state, reason, session, spans FROM scoring.otel_traces ORDER BY trace_id');
const ended = (turn: object) => pipeline.ended({ session_id: 's', turn_index: 0, ...turn });

describe('a turn that names traces', () => {
  it('is scored when they are there, whichever comes first, once', async () => {
    await open();
    await ended({ trace_ids: ['a', 'b'] });
    await receive(tool('a', 'x'), root('b'));
    expect(answers()).toEqual([]);
    await receive(root('a'), tool('a', 'x'));
    expect(answers()).toMatchObject([
      {
        answer: 1,
        partial: false,
        scores: [{ trace_id: 'a', metric: 'task_completion' }, { trace_id: 'a' }, { trace_id: 'b' }, { trace_id: 'b' }],
      },
    ]);
    await receive(root('a'), tool('a', 'x'), root('b'));
    await ended({ trace_ids: ['a', 'b'] });
    expect(answers()).toHaveLength(1);
    expect(await traces()).toMatchObject([
      { trace_id: 'a', state: 'scored', spans: 2 },
      { trace_id: 'b', state: 'scored' },
    ]);
  });
  it('finds traces that came before it', async () => {
    await open();
    await receive(root('a'));
    await ended({ trace_ids: ['a'] });
    expect(answers()).toMatchObject([{ answer: 1, partial: false, scores: [{ value: 1 }, { metric: 'coherence' }] }]);
  });
  it('does not take a root for the whole while a parent is missing', async () => {
    await open();
    await ended({ trace_ids: ['a'] });
    await receive(root('a'), tool('a', 'deep', { parent_span_id: 'step' }));
    expect(answers()).toEqual([]);
    await receive(span('a', 'step', { kind: 'CHAIN' }));
    expect(answers()).toMatchObject([{ partial: false }]);
  });
  it('is scored on what is there when the wait is over, flagged partial, and again when the rest has come', async () => {
    await open();
    await ended({ trace_ids: ['a', 'b'] });
    await receive(root('b', { started_at: BEGIN + 5_000 }));
    await waitIsOver();
    expect(answers()).toMatchObject([{ answer: 1, partial: true, scores: [{ trace_id: 'b' }, { trace_id: 'b' }] }]);
    await receive(root('a'));
    expect(answers()[1]).toMatchObject({
      ...{ answer: 2, partial: false },
      scores: [{ trace_id: 'a' }, { trace_id: 'a' }, { trace_id: 'b' }, { trace_id: 'b' }],
    });
    await receive(root('a'));
    expect(answers()).toHaveLength(2);
  });
  it('keeps what comes after it was scored, flagged late, and does not score again', async () => {
    await open();
    await ended({ trace_ids: ['a'] });
    await receive(root('a'));
    await receive(tool('a', 'late', { status: 'ERROR', error: 'no' }));
    expect(answers()).toHaveLength(1);
    await receive(tool('a', 'late', { status: 'ERROR', error: 'no' }), tool('a', 'later'));
    expect(await pipeline.db.query('SELECT span_id FROM scoring.otel_spans WHERE late ORDER BY 1')).toEqual([
      { span_id: 'late' },
      { span_id: 'later' },
    ]);
    expect(await pipeline.db.query('SELECT spans, late FROM scoring.otel_traces')).toEqual([{ spans: 3, late: 2 }]);
    expect(await pipeline.db.query('SELECT type, doc FROM journal.events')).toEqual([
      { type: 'late_spans', doc: { trace_id: 'a' } },
    ]);
  });
  it('has its tools and tool calls from the spans, and its costlier tiers look at them', async () => {
    await open();
    await ended({ trace_ids: ['a'] });
    const catalogue = [{ name: 'find', parameters: { type: 'object', properties: { parcel: { type: 'string' } } } }];
    await receive(root('a', { tools: catalogue }), tool('a', 'x'));
    await pipeline.give({ id: null, subject: 'fm.default.tier.requested', payload: { session_id: 's', turn_index: 0, tier: 2 } });
    expect(answers()[1]).toMatchObject({
      scores: [
        { metric: 'tool_correctness', value: 1 },
        { metric: 'argument_correctness', value: 0 },
      ],
    });
  });
});

describe('a second body of a turn', () => {
  const inline = (id: string, at: number) => ({ trace_id: id, started_at: at, input: 'where', output: `in ${id}`, spans: [] });
  const body = (...traces: object[]) => ended({ traces });
  it('adds the traces that the first has not, as late ones: they are scored, in their place, once', async () => {
    await open();
    await body(inline('b', 1_790_000_002));
    await body(inline('b', 1_790_000_002), inline('a', 1_790_000_001));
    await body(inline('b', 1_790_000_002), inline('a', 1_790_000_001));
    expect(
      answers().map(({ answer, scores }) => [answer, (scores as { trace_id: string }[]).map(({ trace_id: id }) => id)]),
    ).toEqual([
      [1, ['b', 'b']],
      [2, ['a', 'a', 'b', 'b']],
    ]);
    expect(await pipeline.db.query('SELECT type FROM journal.events')).toEqual([{ type: 'turn_conflict' }]);
  });
  it('changes nothing of a trace that the first has', async () => {
    await open();
    await body({ ...inline('a', 1_790_000_001), output: 'right' });
    await body({ ...inline('a', 1_790_000_001), output: 'wrong' });
    expect(answers()).toHaveLength(1);
  });
  it('names traces that are waited for from then on', async () => {
    await open();
    await body(inline('b', 1_790_000_002));
    await ended({ trace_ids: ['a'] });
    expect(answers()).toHaveLength(1);
    await receive(root('a'));
    expect(answers()[1]).toMatchObject({ answer: 2, partial: false, scores: [{ trace_id: 'a' }, {}, { trace_id: 'b' }, {}] });
  });
  it('names traces that are there already', async () => {
    await open();
    await receive(root('a'));
    await body(inline('b', 1_790_000_002));
    await ended({ trace_ids: ['a'] });
    expect(answers()).toMatchObject([{ answer: 1 }, { answer: 2, scores: [{ trace_id: 'a' }, {}, { trace_id: 'b' }, {}] }]);
  });
  it('leaves a skipped turn as it is', async () => {
    await open({ eval_sample_every: 2 });
    await ended({ turn_index: 0, traces: [inline('x', 1)] });
    await ended({ turn_index: 1, traces: [inline('b', 1)] });
    await ended({ turn_index: 1, traces: [inline('b', 1), inline('a', 2)] });
    expect(answers().map(({ turn_index: t, skipped }) => [t, skipped])).toEqual([
      [0, null],
      [1, 'sampling'],
    ]);
  });
});

describe('spans', () => {
  it('that come again with other content leave the first, and are journaled once', async () => {
    await open();
    await receive(root('a'), root('a', { output: 'another' }));
    await receive(root('a', { output: 'another' }));
    await receive(root('a', { output: 'another' }));
    expect(await pipeline.db.query(`SELECT doc->>'output' AS output FROM scoring.otel_spans`)).toEqual([
      { output: 'it is here' },
    ]);
    expect(await pipeline.db.query('SELECT type FROM journal.events')).toEqual([{ type: 'span_conflict' }]);
  });
  it('that no turn names are kept, and said to be nobody’s', async () => {
    await open();
    await receive(root('a', of('s')));
    await quiet();
    expect(answers()).toEqual([]);
    expect(await traces()).toMatchObject([
      { state: 'unassigned', session: 's', reason: expect.stringContaining('no turn names it') },
    ]);
    await ended({ trace_ids: ['a'] });
    expect(answers()).toMatchObject([{ partial: false }]);
  });
  it('of projects with one trace id do not meet', async () => {
    await open();
    await pipeline.db.query(`INSERT INTO edge.projects (project) VALUES ('other')`);
    await receive(root('a'));
    await new SpansReceivedHandler(pipeline.scoringWork, pipeline.directory, pipeline.turnStore, {
      nudge: () => undefined,
    }).handle([{ ...pipeline.delivery({ spans: [root('a', { output: 'theirs' })] }), project: 'other' }]);
    expect(await pipeline.db.query(`SELECT project, doc->>'output' AS output FROM scoring.otel_spans ORDER BY 1`)).toEqual([
      { project: 'default', output: 'it is here' },
      { project: 'other', output: 'theirs' },
    ]);
  });
});

describe('a root span that ends', () => {
  it('makes a turn of its session when the trace has been quiet, once', async () => {
    await open({ otlp_turns: 'root_span' });
    await receive(tool('a', 'x'));
    await receive(root('a', of('s')));
    expect(answers()).toEqual([]);
    await quiet();
    expect(answers()).toMatchObject([{ session_id: 's', turn_index: BEGIN, partial: false, scores: [{ trace_id: 'a' }, {}] }]);
    await receive(root('a', of('s')), tool('a', 'x'));
    await quiet();
    expect(answers()).toHaveLength(1);
    expect(await traces()).toMatchObject([{ state: 'turned', spans: 2 }]);
  });
  it('orders turns by their start, and two of one microsecond are two turns', async () => {
    await open({ otlp_turns: 'root_span' });
    await receive(
      root('b', { ...of('s'), started_at: BEGIN + 7 }),
      root('a', { ...of('s'), started_at: BEGIN + 7 }),
      root('c', of('s')),
    );
    await quiet();
    const placed = await pipeline.db.query(`SELECT trace_id, t FROM scoring.otel_traces ORDER BY trace_id`);
    expect(placed).toEqual([
      { trace_id: 'a', t: BEGIN + 7 },
      { trace_id: 'b', t: BEGIN + 8 },
      { trace_id: 'c', t: BEGIN },
    ]);
  });
  it('without any session stays visible, with the reason', async () => {
    await open({ otlp_turns: 'root_span' });
    await receive(root('a'));
    await quiet();
    expect(answers()).toEqual([]);
    expect(await traces()).toMatchObject([{ state: 'unassigned', session: null, reason: expect.stringContaining('no session') }]);
    await receive(tool('a', 'x', of('s')));
    await quiet();
    expect(answers()).toMatchObject([{ session_id: 's' }]);
  });
  it('takes the session from any span, an explicit name before an inherited one', async () => {
    await open({ otlp_turns: 'root_span' });
    await receive(root('a', { session: { id: 'inherited', explicit: false } }), tool('a', 'x', of('explicit')));
    await quiet();
    expect(answers()).toMatchObject([{ session_id: 'explicit' }]);
  });
  it('that never comes is waited for, then the turn is made without it, flagged partial', async () => {
    await open({ otlp_turns: 'root_span', trace_wait_s: 30 });
    await receive(tool('a', 'x', of('s')));
    await quiet();
    expect(answers()).toEqual([]);
    await pipeline.db.query(`UPDATE scoring.otel_traces SET last_at = now() - interval '31 seconds'`);
    await quiet();
    expect(answers()).toMatchObject([{ session_id: 's', partial: true }]);
    expect(await traces()).toMatchObject([{ state: 'turned', reason: 'its root span has not come' }]);
  });
  it('of a trace that a turn names makes no turn of its own', async () => {
    await open({ otlp_turns: 'root_span' });
    await receive(root('a', of('s')));
    await ended({ trace_ids: ['a'] });
    await quiet();
    expect(answers()).toMatchObject([{ turn_index: 0 }]);
    expect(answers()).toHaveLength(1);
  });
  it('is told of when its session names traces too', async () => {
    await open({ otlp_turns: 'root_span' });
    await receive(root('a', of('s')));
    await quiet();
    await ended({ trace_ids: ['a'] });
    expect(await pipeline.db.query(`SELECT type, session FROM journal.events`)).toEqual([{ type: 'mixed_turns', session: 's' }]);
  });
});
