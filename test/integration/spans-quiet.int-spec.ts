import { afterEach, describe, expect, it } from '@jest/globals';
import type { ProjectSettingsPatch, ReceivedSpan } from '#contracts';
import { sessionKey } from '#domain/ids';
import { Pipeline } from './pipeline.js';
import { BEGIN, of, quietIn, quietTicks, receiveIn, root } from './received-spans.js';

let pipeline: Pipeline;
const open = async (patch: ProjectSettingsPatch = {}): Promise<Pipeline> => (pipeline = await Pipeline.open(patch));
afterEach(() => pipeline.close());

const receive = (...spans: ReceivedSpan[]): Promise<void> => receiveIn(pipeline, ...spans);
const quiet = (): Promise<void> => quietIn(pipeline);
const answers = () => pipeline.of('.trace.scored').map(({ payload }) => payload);
const traces = () => pipeline.db.query('SELECT trace_id, state, reason FROM scoring.otel_traces ORDER BY trace_id');

describe('a trace that cannot be made a turn', () => {
  it('stays with the reason when its session has no microsecond left for it, and others become turns', async () => {
    await open({ otlp_turns: 'root_span' });
    const last = { ...of('s'), started_at: Number.MAX_SAFE_INTEGER, ended_at: Number.MAX_SAFE_INTEGER };
    await receive(root('a', last), root('b', last), root('c', of('other')));
    await quiet();
    expect(await traces()).toMatchObject([
      { state: 'turned' },
      { state: 'unassigned', reason: expect.stringContaining('cannot be made a turn: no microsecond') },
      { state: 'turned' },
    ]);
    expect(answers()).toHaveLength(2);
    expect(await pipeline.db.query('SELECT type FROM journal.events')).toEqual([{ type: 'trace_unassigned' }]);
  });
  it('stays with the error when there is one, and others become turns', async () => {
    await open({ otlp_turns: 'root_span' });
    await receive(root('a', of('s')), root('b', of('s')));
    await pipeline.db.query(`UPDATE scoring.otel_spans SET doc = doc || '{"tools": 7}' WHERE trace_id = 'a'`);
    await quiet();
    expect(await traces()).toMatchObject([
      { state: 'unassigned', reason: expect.stringContaining('cannot be made a turn: ') },
      { state: 'turned' },
    ]);
    await quiet();
    expect(answers()).toHaveLength(1);
  });
  it.each([
    ['bytes', 64 * 1024 * 1024 + 1],
    ['spans', 20_001],
  ])('stays when it is too large by its %s, without being read', async (column, size) => {
    await open({ otlp_turns: 'root_span' });
    await receive(root('a', of('s')));
    await pipeline.db.query(`UPDATE scoring.otel_traces SET ${column} = $1`, [size]);
    await quiet();
    expect(await traces()).toMatchObject([{ state: 'unassigned', reason: expect.stringContaining('too large') }]);
  });
});

describe('quiet traces', () => {
  it('are read as many at a time as fit into memory, until none is left', async () => {
    await open({ otlp_turns: 'root_span' });
    await receive(...Array.from({ length: 5 }, (_, at) => root(`t${at}`, { ...of('s'), started_at: BEGIN + at })));
    await pipeline.db.query('UPDATE scoring.otel_traces SET bytes = 40 * 1024 * 1024');
    await quiet();
    expect(answers()).toHaveLength(5);
  });
  it('of one microsecond are two turns when two processes decide at once', async () => {
    await open({ otlp_turns: 'root_span' });
    await receive(root('a', of('s')), root('b', of('s')));
    await pipeline.db.query('UPDATE scoring.otel_traces SET quiet_at = now()');
    const s = sessionKey('default', 's');
    await pipeline.db.query(`INSERT INTO scoring.sessions (s, project, session) VALUES ($1, 'default', 's')`, [s]);
    await Promise.all([quietTicks(pipeline).tick(), quietTicks(pipeline).tick(), quietTicks(pipeline).tick()]);
    expect(await pipeline.db.query('SELECT t FROM scoring.turns ORDER BY t')).toEqual([{ t: BEGIN }, { t: BEGIN + 1 }]);
    expect(answers()).toHaveLength(2);
  });
  it('wait behind their session and hold no trace meanwhile', async () => {
    await open({ otlp_turns: 'root_span' });
    await receive(root('a', of('s')));
    await pipeline.db.query(`INSERT INTO scoring.sessions (s, project, session) VALUES ($1, 'default', 's')`, [
      sessionKey('default', 's'),
    ]);
    const turned = await pipeline.scoringWork.run(async (tx) => {
      await tx.query('SELECT 1 FROM scoring.sessions FOR UPDATE');
      const deciding = quiet();
      await untilSomebodyWaits();
      // Whoever has the session takes the trace: in the other order this would be a deadlock.
      await tx.query('SELECT 1 FROM scoring.otel_traces FOR UPDATE NOWAIT');
      return { deciding };
    });
    await turned.deciding;
    expect(answers()).toHaveLength(1);
  });
});

async function untilSomebodyWaits(): Promise<void> {
  for (;;) {
    const waiting = await pipeline.db.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    if (waiting.length > 0) return;
  }
}
