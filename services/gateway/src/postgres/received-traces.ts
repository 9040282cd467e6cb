import type { ReceivedTrace, ReceivedTraceSpan } from '#contracts';
import { Conditions, type After } from './conditions.js';
import { micros, type Database } from './database.js';

export interface ReceivedTracesFilter {
  readonly state?: string | undefined;
  readonly session?: string | undefined;
  readonly no_session?: 'true' | undefined;
  readonly late?: 'true' | undefined;
}

/** A trace with what sorts it among those of the same moment. */
export interface ReceivedTraceRow extends ReceivedTrace {
  readonly id: string;
}

/** A trace id that a turn names may be any text, also one that no cursor holds. */
const ID = 'md5(x.trace_id)';

const TRACE = `
  SELECT ${ID} AS id, x.trace_id, x.session AS session_id, x.state, x.reason, x.root AS root_ended, x.spans, x.orphans, x.late AS late_spans,
    CASE WHEN n.session IS NOT NULL THEN jsonb_build_object('session_id', n.session, 'turn_index', x.t) END AS turn,
    ${micros('x.first_at')} AS first_at, ${micros('x.last_at')} AS last_at
  FROM scoring.otel_traces x LEFT JOIN scoring.sessions n ON n.s = x.s`;

export class ReceivedTraces {
  constructor(private readonly db: Database) {}

  /** By their last span, newest first; at most `limit` + 1. */
  async list(project: string, filter: ReceivedTracesFilter, after: After | null, limit: number): Promise<ReceivedTraceRow[]> {
    const where = new Conditions()
      .add(project, (p) => `x.project = ${p}`)
      .add(filter.state, (p) => `x.state = ${p}`)
      .add(filter.session, (p) => `x.session = ${p}`)
      .require(filter.no_session === undefined ? undefined : 'x.session IS NULL')
      .require(filter.late === undefined ? undefined : 'x.late > 0')
      .after(after, 'x.last_at', ID);
    return this.db.query<ReceivedTraceRow>(
      `${TRACE} WHERE ${where.toString()} ORDER BY x.last_at DESC, ${ID} LIMIT ${limit + 1}`,
      where.parameters,
    );
  }

  async find(project: string, trace: string): Promise<ReceivedTrace | undefined> {
    const [row] = await this.db.query<ReceivedTraceRow>(`${TRACE} WHERE x.project = $1 AND x.trace_id = $2`, [project, trace]);
    if (row === undefined) return undefined;
    const { id: _, ...found } = row;
    return found;
  }

  /** Spans of a trace in (started_at, span_id) order; at most `limit` + 1. The page is cut before any document is read. */
  async spans(
    { project, trace, late }: { readonly project: string; readonly trace: string; readonly late: boolean },
    after: After | null,
    limit: number,
  ): Promise<ReceivedTraceSpan[]> {
    const where = new Conditions()
      .add(project, (p) => `project = ${p}`)
      .add(trace, (p) => `trace_id = ${p}`)
      .require(late ? 'late' : undefined);
    if (after !== null)
      where.require(`(started, span_id) > (${where.parameter(after.at)}::bigint, ${where.parameter(after.id)}::text)`);
    return this.db.query<ReceivedTraceSpan>(
      `SELECT p.span_id, p.doc ->> 'parent_span_id' AS parent_span_id, p.doc ->> 'name' AS name, p.doc ->> 'kind' AS kind, p.doc ->> 'status' AS status, p.doc ->> 'model' AS model,
         p.doc ->> 'dialect' AS dialect, p.session AS session_id, p.started AS started_at, (p.doc ->> 'ended_at')::bigint AS ended_at, p.late, ${micros('p.at')} AS received_at
       FROM (SELECT * FROM scoring.otel_spans WHERE ${where.toString()} ORDER BY started, span_id LIMIT ${limit + 1}) p ORDER BY p.started, p.span_id`,
      where.parameters,
    );
  }
}
