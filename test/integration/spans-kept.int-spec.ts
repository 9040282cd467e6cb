import { afterEach, describe, expect, it } from '@jest/globals';
import type { ProjectSettingsPatch, ReceivedSpan } from '#contracts';
import { Pipeline } from './pipeline.js';
import { BEGIN, of, quietIn, receiveIn, root, span, tool } from './received-spans.js';

let pipeline: Pipeline;
const open = async (patch: ProjectSettingsPatch = {}): Promise<Pipeline> => (pipeline = await Pipeline.open(patch));
afterEach(() => pipeline.close());

const receive = (...spans: ReceivedSpan[]): Promise<void> => receiveIn(pipeline, ...spans);
const answers = () => pipeline.of('.trace.scored').map(({ payload }) => payload);
const traces = () => pipeline.db.query('SELECT spans, root, orphans, session FROM scoring.otel_traces ORDER BY trace_id');
const journal = () => pipeline.db.query('SELECT type FROM journal.events');
const undone: Partial<ReceivedSpan> = { ended_at: null, output: 'nothing yet' };

describe('a span that is sent at its start and at its end', () => {
  it('is the one that has ended, in whichever order, and no conflict', async () => {
    await open({ otlp_turns: 'root_span' });
    await receive(root('a', { ...of('s'), ...undone }), tool('b', 'x'), root('b', of('s')));
    await receive(root('a', of('s')), tool('a', 'x'), root('b', { ...of('s'), ...undone }));
    expect(await pipeline.db.query(`SELECT doc->>'output' AS output FROM scoring.otel_spans WHERE span_id = 'root'`)).toEqual([
      { output: 'it is here' },
      { output: 'it is here' },
    ]);
    const whole = { spans: 2, root: true, orphans: 0, session: 's' };
    expect(await traces()).toEqual([whole, whole]);
    expect(await journal()).toEqual([]);
    await quietIn(pipeline);
    expect(answers()).toMatchObject([{ partial: false }, { partial: false }]);
  });
  it('is the one that has ended when both come in one batch', async () => {
    await open();
    await receive(root('a', undone), root('a'));
    expect(await pipeline.db.query(`SELECT ended FROM scoring.otel_spans`)).toEqual([{ ended: true }]);
  });
});

describe('what is known of a trace', () => {
  it('is the same however its spans are cut into batches', async () => {
    await open();
    const chain = ['root', 'step', 'deep', 'far'].map((id, at) =>
      span('a', id, { parent_span_id: at === 0 ? null : (['root', 'step', 'gone'][at - 1] ?? null) }),
    );
    const orders = [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [2, 0, 3, 1],
      [1, 3, 0, 2],
    ];
    for (const [at, order] of orders.entries())
      for (const one of order) await receive({ ...(chain[one] ?? root('a')), trace_id: `t${at}` });
    await receive(...chain);
    expect(await traces()).toEqual(Array.from({ length: 5 }, () => ({ spans: 4, root: true, orphans: 1, session: null })));
  });
  it('is not changed by a span that comes again, and its turn is not put off', async () => {
    await open({ otlp_turns: 'root_span' });
    await receive(root('a', of('s')));
    const known = () => pipeline.db.query('SELECT spans, bytes, last_at::text, quiet_at::text FROM scoring.otel_traces');
    const before = await known();
    await receive(root('a', of('s')));
    expect(await known()).toEqual(before);
  });
  it('names the session that its turn has', async () => {
    await open({ otlp_turns: 'root_span' });
    const inherited = (id: string): Partial<ReceivedSpan> => ({ session: { id, explicit: false } });
    await receive(root('a'), tool('a', 'x', { ...inherited('second'), started_at: BEGIN + 9 }));
    await receive(tool('a', 'z', { ...inherited('first'), started_at: BEGIN + 3 }));
    expect(await traces()).toMatchObject([{ session: 'first' }]);
    await quietIn(pipeline);
    expect(answers()).toMatchObject([{ session_id: 'first' }]);
  });
  it.each([
    ['no time was recorded: the time of receipt stands', { ended_at: null }, { started_at: BEGIN + 77, ended_at: null }],
    ['the end was more than a day ahead: the time of receipt stands', {}, { ended_at: BEGIN + 77_000 }],
  ])('holds no conflict where a span with a time of ours comes again: %s', async (note, first, again) => {
    await open();
    const noted = (more: Partial<ReceivedSpan>) => root('a', { metadata: { notes: [note] }, ...more });
    await receive(noted(first));
    await receive(noted(again));
    expect(await journal()).toEqual([]);
    await receive(noted({ ...first, output: 'another' }));
    expect(await journal()).toEqual([{ type: 'span_conflict' }]);
  });
});
