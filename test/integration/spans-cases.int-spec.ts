import { afterEach, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeTraces, normaliseSpan } from '#otlp';
import { SHARED, sharedIsThere } from '../support/root.js';
import { Pipeline } from './pipeline.js';
import { quietIn, receiveIn, span } from './received-spans.js';

interface Step {
  readonly post: 'turn-end' | 'otlp';
  readonly event?: { readonly session_id: string; readonly turn_index: number; readonly trace_id: string };
  readonly spans?: readonly {
    readonly name: string;
    readonly spanId: string;
    readonly parentSpanId?: string;
    readonly 'output.value'?: string;
  }[];
}

interface Row {
  readonly trace_id: string;
}

const inputsOf = (file: string): { name: string; body: unknown }[] => {
  const { inputs } = JSON.parse(readFileSync(join(SHARED, 'cases', file), 'utf8')) as {
    inputs: { name: string; body: unknown }[];
  };
  return inputs;
};
const described = sharedIsThere('the recorded cases through scoring') ? describe : describe.skip;

described('the recorded case', () => {
  let pipeline: Pipeline;
  afterEach(() => pipeline.close());

  const answers = () =>
    pipeline.of('.trace.scored').map(({ payload: { turn_index, answer, partial } }) => [turn_index, answer, partial]);
  const post = (body: unknown): Promise<void> => {
    const decoded = decodeTraces(Buffer.from(JSON.stringify(body)), 'json');
    return receiveIn(pipeline, ...[...decoded.spans].map((one) => normaliseSpan(one, Date.now() * 1_000)));
  };

  it('37: a turn is scored when it has ended and its trace is there, once, whatever came before or twice', async () => {
    pipeline = await Pipeline.open();
    const [timeline] = inputsOf('37-scored-before-finished.json');
    const steps = timeline?.body as readonly Step[];
    const trace = steps[0]?.event?.trace_id ?? '';
    const seen: unknown[] = [];
    for (const { post: kind, event, spans = [] } of steps) {
      if (kind === 'turn-end' && event !== undefined)
        await pipeline.ended({ session_id: event.session_id, turn_index: event.turn_index, trace_ids: [event.trace_id] });
      const came = spans.map(({ name, spanId, parentSpanId: parent = null, 'output.value': output }) =>
        span(trace, spanId, { name, parent_span_id: parent, ...(output === undefined ? {} : { output }) }),
      );
      if (came.length > 0) await receiveIn(pipeline, ...came);
      seen.push(answers().length);
    }
    // Its end, its child, its root; the same end again, and two turns whose traces have not come.
    expect(seen).toEqual([0, 0, 1, 1, 1, 1]);
    expect(answers()).toEqual([[0, 1, false]]);
    const [{ body } = { body: Buffer.alloc(0) }] = await pipeline.db.query<{ body: Buffer }>(
      'SELECT body FROM scoring.turn_bodies WHERE t = 0',
    );
    expect(JSON.parse(String(body))).toMatchObject({ traces: [{ output: 'final answer', spans: [{}, {}] }] });
    expect(await pipeline.db.query('SELECT t FROM scoring.turns WHERE wait_until IS NOT NULL ORDER BY t')).toEqual([
      { t: 1 },
      { t: 2 },
    ]);
  });

  it('07: spans in any order are linked and scored once; a late one is attached and flagged, an orphan is visible', async () => {
    pipeline = await Pipeline.open();
    const inputs = new Map(inputsOf('07-spans-out-of-order-and-orphan.json').map(({ name, body }) => [name, body]));
    const traces = () =>
      pipeline.db.query<Row>('SELECT trace_id, state, spans, late, orphans FROM scoring.otel_traces ORDER BY spans DESC');
    await post(inputs.get('1-child-first'));
    const [{ trace_id: trace } = { trace_id: '' }] = await traces();
    await pipeline.ended({ session_id: 's', turn_index: 0, trace_ids: [trace] });
    expect(answers()).toEqual([]);
    await post(inputs.get('2-root-later'));
    expect(answers()).toEqual([[0, 1, false]]);
    await post(inputs.get('3-late-child'));
    await post(inputs.get('4-orphan'));
    await quietIn(pipeline);
    expect(answers()).toHaveLength(1);
    expect(await traces()).toMatchObject([
      { trace_id: trace, state: 'scored', spans: 3, late: 1, orphans: 0 },
      { spans: 1, late: 0, orphans: 1 },
    ]);
  });

  it('12: a session is named by any span and any alias; a trace without one is kept, with the reason', async () => {
    pipeline = await Pipeline.open({ otlp_turns: 'root_span' });
    for (const { body } of inputsOf('12-session-id-only-on-root.json')) await post(body);
    await quietIn(pipeline);
    const rows = await pipeline.db.query('SELECT state, session, reason FROM scoring.otel_traces ORDER BY trace_id');
    expect(rows).toEqual([
      ...['s-14', 's-15', 's-16', 's-17'].map((session) => ({ state: 'turned', session, reason: null })),
      { state: 'unassigned', session: null, reason: expect.stringContaining('no session') },
    ]);
  });
});
