import { afterEach, describe, expect, it } from '@jest/globals';
import type { ProjectSettingsPatch, ReceivedSpan } from '#contracts';
import { Pipeline } from './pipeline.js';
import { BEGIN, of, quietIn, receiveIn, root, span, tool } from './received-spans.js';

let pipeline: Pipeline;
const open = async (patch: ProjectSettingsPatch = { otlp_turns: 'root_span' }): Promise<Pipeline> =>
  (pipeline = await Pipeline.open(patch));
afterEach(() => pipeline.close());

const receive = (...spans: ReceivedSpan[]): Promise<void> => receiveIn(pipeline, ...spans);
const quiet = (): Promise<void> => quietIn(pipeline);
const answers = () =>
  pipeline.of('.trace.scored').map(({ payload: { session_id, answer, partial } }) => [session_id, answer, partial]);
const traces = () => pipeline.db.query('SELECT trace_id, state, root, orphans, late FROM scoring.otel_traces ORDER BY trace_id');
const named = () => pipeline.ended({ session_id: 's', turn_index: 0, trace_ids: ['a'] });
/** A span that serves a request of somebody who is not heard here, by an SDK that sends no flags. */
const entry = (id = 'serve', more: Partial<ReceivedSpan> = {}): ReceivedSpan =>
  span('a', id, { parent_span_id: `before-${id}`, entry: true, input: 'where is it', output: 'here', ...of('s'), ...more });
const below = (id: string, parent = 'serve'): ReceivedSpan => tool('a', id, { parent_span_id: parent });

describe('a trace below a service that does not report', () => {
  it('has the span that serves the request for a root when it has been quiet: a whole turn, once', async () => {
    await open();
    await receive(below('x'), entry());
    expect(await traces()).toMatchObject([{ state: 'open', root: false, orphans: 1 }]);
    await quiet();
    expect(answers()).toEqual([['s', 1, false]]);
    await receive(entry(), below('x'));
    await quiet();
    expect(answers()).toHaveLength(1);
    expect(await traces()).toMatchObject([{ state: 'turned', root: true, orphans: 0, late: 0 }]);
    expect(await pipeline.db.query('SELECT type FROM journal.events')).toEqual([]);
  });

  it('may be served twice in one trace, and is one turn', async () => {
    await open();
    await receive(entry(), below('x'), entry('again', { started_at: BEGIN + 2_000 }), below('y', 'again'));
    await quiet();
    expect(answers()).toEqual([['s', 1, false]]);
  });

  it('is waited for while the span that serves it has not ended', async () => {
    await open();
    await receive(below('x'), entry('serve', { ended_at: null }));
    await quiet();
    expect(answers()).toEqual([]);
    await receive(entry());
    await quiet();
    expect(answers()).toEqual([['s', 1, false]]);
  });

  it('is whole for a turn that names it, when it has been quiet', async () => {
    await open({});
    await named();
    await receive(below('x'), entry());
    expect(answers()).toEqual([]);
    await quiet();
    expect(answers()).toEqual([['s', 1, false]]);
    expect(await traces()).toMatchObject([{ state: 'scored' }]);
    await quiet();
    await receive(entry());
    expect(answers()).toHaveLength(1);
  });

  it('is whole for a turn that names it later, whether it has been looked at or not', async () => {
    await open({});
    await receive(below('x'), entry());
    await named();
    expect(answers()).toEqual([]);
    await quiet();
    expect(answers()).toEqual([['s', 1, false]]);
  });

  it('is whole at once for a turn that names it when it has been looked at', async () => {
    await open({});
    await receive(below('x'), entry());
    await quiet();
    await named();
    expect(answers()).toEqual([['s', 1, false]]);
  });
});

describe('a trace through services that all report', () => {
  it('waits for the root of the first one, whose spans came before it was quiet', async () => {
    await open();
    await receive(below('x'), entry());
    await receive(span('a', 'before-serve'));
    await quiet();
    expect(answers()).toEqual([]);
    await receive(root('a', of('s')));
    await quiet();
    expect(answers()).toEqual([['s', 1, false]]);
    expect(await traces()).toMatchObject([{ root: true, orphans: 0, late: 0 }]);
  });

  it('keeps what came when it had been taken for whole, flagged late', async () => {
    await open();
    await receive(entry());
    await quiet();
    await receive(span('a', 'before-serve'), root('a', of('s')));
    await quiet();
    expect(answers()).toHaveLength(1);
    expect(await traces()).toMatchObject([{ state: 'turned', orphans: 0, late: 2 }]);
  });

  it('is not taken for whole while a span waits for a parent that may not have ended', async () => {
    await open({ otlp_turns: 'root_span', trace_wait_s: 30 });
    await receive(entry(), tool('a', 'y', { parent_span_id: 'still-open' }));
    await quiet();
    expect(answers()).toEqual([]);
    await pipeline.db.query(`UPDATE scoring.otel_traces SET last_at = now() - interval '31 seconds'`);
    await quiet();
    expect(answers()).toEqual([['s', 1, true]]);
  });

  it('is not looked at again and again while a turn waits for it', async () => {
    await open({});
    await named();
    await receive(below('x', 'still-open'));
    await quiet();
    expect(await pipeline.db.query('SELECT quiet_at, state FROM scoring.otel_traces')).toEqual([
      { quiet_at: null, state: 'named' },
    ]);
    await receive(span('a', 'still-open'), root('a'));
    expect(answers()).toEqual([['s', 1, false]]);
  });
});
