import type { SessionSummary, TrajectoryTurn } from '#contracts';
import { sessionKey } from '#domain/ids';
import { Conditions, type After } from './conditions.js';
import { micros, type Database } from './database.js';

export interface SessionFilter {
  readonly agent?: string | undefined;
  readonly alerting?: boolean | undefined;
  /** Beginning of the session id. */
  readonly prefix?: string | undefined;
}

/** A session with the key that names it inside (`s`), which sorts the list. */
export interface SessionRow extends SessionSummary {
  readonly s: string;
}

interface HeadState {
  readonly tracks?: Readonly<Record<string, { readonly peak: number }>>;
}

export interface SessionDetail extends SessionRow {
  /** The gate's peak per `metric@source`. */
  readonly peaks: Readonly<Record<string, number>>;
  /** Some of its turns were sent, and some made of root spans. */
  readonly mixed: boolean;
}

/** The scores' table has '' for "of no trace". */
const NO_TRACE = "nullif(c.trace, '')";

const SUMMARY = `
  SELECT x.s, x.session AS session_id, x.agent, ${micros('x.first_at')} AS first_at, last.t AS last_turn_index, last.accepted_us AS last_accepted_at,
    coalesce(h.alerting, false) AS alerting, h.state, x.sent_turns AND x.root_turns AS mixed,
    coalesce((SELECT array_agg(DISTINCT one ->> 'signature' ORDER BY one ->> 'signature') FROM jsonb_array_elements(h.state -> 'standing') one), '{}') AS standing
  FROM scoring.sessions x
  LEFT JOIN gating.heads h ON h.s = x.s
  LEFT JOIN LATERAL (SELECT t, accepted_us FROM scoring.turns WHERE s = x.s ORDER BY t DESC LIMIT 1) last ON true`;

export class Sessions {
  constructor(private readonly db: Database) {}

  /** Newest first; at most `limit` + 1. */
  async list(project: string, filter: SessionFilter, after: After | null, limit: number): Promise<SessionRow[]> {
    const where = new Conditions()
      .add(project, (p) => `x.project = ${p}`)
      .add(filter.agent, (p) => `x.agent = ${p}`)
      .require(filter.alerting === true ? 'h.alerting' : undefined)
      .require(filter.alerting === false ? 'h.alerting IS NOT TRUE' : undefined)
      .add(filter.prefix, (p) => `starts_with(x.session, ${p})`)
      .after(after, 'x.first_at', 'x.s');
    const rows = await this.db.query<SessionRow & { state: unknown; mixed: boolean }>(
      `${SUMMARY} WHERE ${where.toString()} ORDER BY x.first_at DESC, x.s LIMIT ${limit + 1}`,
      where.parameters,
    );
    return rows.map(({ state: _state, mixed: _mixed, ...row }) => row);
  }

  async find(project: string, session: string): Promise<SessionDetail | undefined> {
    const rows = await this.db.query<SessionRow & { state: HeadState | null; mixed: boolean }>(`${SUMMARY} WHERE x.s = $1`, [
      sessionKey(project, session),
    ]);
    const [row] = rows;
    if (row === undefined) return undefined;
    const { state, ...summary } = row;
    return {
      ...summary,
      peaks: Object.fromEntries(Object.entries(state?.tracks ?? {}).map(([track, { peak }]) => [track, peak])),
    };
  }

  /** The newest turns below `before`, newest first; at most `limit` + 1. */
  async turns(s: string, before: number | undefined, limit: number): Promise<TrajectoryTurn[]> {
    const where = new Conditions().add(s, (p) => `s = ${p}`).add(before, (p) => `t < ${p}`);
    return this.db.query<TrajectoryTurn>(
      `WITH own AS (SELECT * FROM scoring.turns WHERE ${where.toString()} ORDER BY t DESC LIMIT ${limit + 1}),
         earlier AS (SELECT count(*) AS n FROM scoring.turns WHERE s = $1 AND t < (SELECT min(t) FROM own))
       SELECT n.t AS turn_index, (SELECT n FROM earlier) + row_number() OVER (ORDER BY n.t) AS ordinal, n.accepted_us AS accepted_at, n.agent_version, n.model,
         coalesce(e.partial, n.partial) AS partial,
         n.wait_until IS NOT NULL AS waiting, coalesce(e.skipped, n.skipped) AS skipped, coalesce(e.rev, 0) AS revision,
         coalesce(e.fired, '{}') AS fired, coalesce(e.standing, '{}') AS standing, coalesce(scores.list, '[]') AS scores
       FROM own n
       LEFT JOIN gating.turn_evals e ON e.s = n.s AND e.t = n.t
       LEFT JOIN LATERAL (
         SELECT jsonb_agg(jsonb_build_object('metric', c.metric, 'trace_id', ${NO_TRACE}, 'tier', c.tier, 'status', c.status, 'value', c.value,
           'source', c.source, 'evaluator', c.evaluator, 'reason', c.reason, 'code', c.code, 'spans', to_jsonb(c.spans)) ORDER BY c.tier, c.ordinal, c.metric) AS list
         FROM scoring.scores c WHERE c.s = n.s AND c.t = n.t) scores ON true
       ORDER BY n.t DESC`,
      where.parameters,
    );
  }
}
