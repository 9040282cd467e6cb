import type { ReceivedTrace } from '#contracts';
import { Conditions, type After } from './conditions.js';
import { micros, type Database } from './database.js';

export interface ReceivedTracesFilter {
  readonly state?: string | undefined;
  readonly session?: string | undefined;
}

/** A trace with what sorts it among those of the same moment. */
export interface ReceivedTraceRow extends ReceivedTrace {
  readonly id: string;
}

/** A trace id that a turn names may be any text, also one that no cursor holds. */
const ID = 'md5(x.trace_id)';

export class ReceivedTraces {
  constructor(private readonly db: Database) {}

  /** By their last span, newest first; at most `limit` + 1. */
  async list(project: string, filter: ReceivedTracesFilter, after: After | null, limit: number): Promise<ReceivedTraceRow[]> {
    const where = new Conditions()
      .add(project, (p) => `x.project = ${p}`)
      .add(filter.state, (p) => `x.state = ${p}`)
      .add(filter.session, (p) => `x.session = ${p}`)
      .after(after, 'x.last_at', ID);
    return this.db.query<ReceivedTraceRow>(
      `SELECT ${ID} AS id, x.trace_id, x.session AS session_id, x.state, x.reason, x.root AS root_ended, x.spans, x.orphans,
         CASE WHEN n.session IS NOT NULL THEN jsonb_build_object('session_id', n.session, 'turn_index', x.t) END AS turn,
         ${micros('x.first_at')} AS first_at, ${micros('x.last_at')} AS last_at
       FROM scoring.otel_traces x LEFT JOIN scoring.sessions n ON n.s = x.s
       WHERE ${where.toString()} ORDER BY x.last_at DESC, ${ID} LIMIT ${limit + 1}`,
      where.parameters,
    );
  }
}
