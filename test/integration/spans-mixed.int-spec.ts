import { afterEach, describe, expect, it } from '@jest/globals';
import type { ProjectSettingsPatch } from '#contracts';
import { Pipeline } from './pipeline.js';
import { of, quietIn, receiveIn, root, tool } from './received-spans.js';

let pipeline: Pipeline;
const open = async (patch: ProjectSettingsPatch): Promise<Pipeline> => (pipeline = await Pipeline.open(patch));
afterEach(() => pipeline.close());

const sent = (session: string, turn: number) => pipeline.ended({ session_id: session, turn_index: turn, traces: [] });
const spanned = async (session: string, trace: string): Promise<void> => {
  await receiveIn(pipeline, root(trace, of(session)));
  await quietIn(pipeline);
};
const journal = () => pipeline.db.query('SELECT type, session, doc FROM journal.events');
const marks = () => pipeline.db.query('SELECT session, sent_turns, root_turns FROM scoring.sessions ORDER BY session');
const mixed = { type: 'mixed_turns', session: 's', doc: {} };

describe('a session with turns that were sent and turns that were made of root spans', () => {
  it('is told of once, when turns were sent first', async () => {
    await open({ otlp_turns: 'root_span' });
    await sent('s', 0);
    await spanned('s', 'a');
    await spanned('s', 'b');
    await sent('s', 1);
    expect(await journal()).toEqual([mixed]);
  });

  it('is told of once, when root spans were first', async () => {
    await open({ otlp_turns: 'root_span' });
    await spanned('s', 'a');
    expect(await journal()).toEqual([]);
    await sent('s', 0);
    await sent('s', 0);
    expect(await journal()).toEqual([mixed]);
    expect(await marks()).toEqual([{ session: 's', sent_turns: true, root_turns: true }]);
  });

  it('is no other session, whose turns are all made in one way', async () => {
    await open({ otlp_turns: 'root_span' });
    await sent('said', 0);
    await spanned('seen', 'a');
    await sent('said', 1);
    await spanned('seen', 'b');
    expect(await journal()).toEqual([]);
    expect(await marks()).toEqual([
      { session: 'said', sent_turns: true, root_turns: false },
      { session: 'seen', sent_turns: false, root_turns: true },
    ]);
  });
});

describe('a turn that was made without its root span', () => {
  it('stays flagged partial when a value for it comes later', async () => {
    await open({ otlp_turns: 'root_span' });
    await receiveIn(pipeline, tool('a', 'x', of('s')));
    await pipeline.db.query(`UPDATE scoring.otel_traces SET last_at = now() - interval '31 seconds'`);
    await quietIn(pipeline);
    const [first] = pipeline.of('.trace.scored');
    await pipeline.sent('s', Number(first?.payload['turn_index']), { metric: 'task_completion', value: 1 });
    expect(pipeline.of('.trace.scored').map(({ payload: { answer, partial } }) => [answer, partial])).toEqual([
      [1, true],
      [2, true],
    ]);
  });
});
