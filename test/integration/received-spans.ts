import type { ReceivedSpan } from '#contracts';
import { SpansReceivedHandler } from '../../services/scoring/src/handlers/spans-received.handler.js';
import { TraceQuiet } from '../../services/scoring/src/handlers/trace-quiet.js';
import type { Pipeline } from './pipeline.js';

export const BEGIN = 1_790_000_000_000_000;
export const span = (trace: string, id: string, more: Partial<ReceivedSpan> = {}): ReceivedSpan => ({
  ...{ trace_id: trace, span_id: id, parent_span_id: id === 'root' ? null : 'root', name: id, status: 'OK', model: null },
  ...{
    kind: 'OTHER',
    started_at: BEGIN,
    ended_at: BEGIN + 1_000,
    metadata: {},
    dialect: 'plain',
    session: null,
    agent: null,
    tools: [],
  },
  ...more,
});
export const root = (trace: string, more: Partial<ReceivedSpan> = {}) =>
  span(trace, 'root', { kind: 'AGENT', input: 'where is my parcel', output: 'it is here', ...more });
export const tool = (trace: string, id: string, more: Partial<ReceivedSpan> = {}) =>
  span(trace, id, { kind: 'TOOL', name: 'find', input: { parcel: 1 }, output: 'here', ...more });
export const of = (session: string): Partial<ReceivedSpan> => ({ session: { id: session, explicit: true } });

/** Spans come, in one batch. */
export const receiveIn = (pipeline: Pipeline, ...spans: ReceivedSpan[]): Promise<void> =>
  new SpansReceivedHandler(pipeline.scoringWork, pipeline.directory, pipeline.turnStore, { nudge: () => undefined }).handle([
    pipeline.delivery({ spans }),
  ]);

/** Every trace has been quiet for long enough, and is looked at. */
export async function quietIn(pipeline: Pipeline): Promise<void> {
  await pipeline.db.query(`UPDATE scoring.otel_traces SET quiet_at = now() - interval '1 second' WHERE quiet_at IS NOT NULL`);
  await quietTicks(pipeline).tick();
}

export const quietTicks = (pipeline: Pipeline): TraceQuiet =>
  new TraceQuiet(pipeline.scoringWork, pipeline.directory, pipeline.turnStore, pipeline.setup, { nudge: () => undefined });
