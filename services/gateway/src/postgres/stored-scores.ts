import type { StoredScores } from '#contracts';
import { Conditions, type After } from './conditions.js';
import { instant, micros, type Database } from './database.js';

export interface ScoresFilter {
  readonly metric?: string | undefined;
  /** Microseconds, of the session's first turn; `until` is excluded. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** A session's values with the key that names it inside (`s`), which sorts the list. */
export interface StoredScoresRow extends StoredScores {
  readonly s: string;
}

/** The gate refolds no further back than this either. */
const NEWEST_TURNS = 500;

export class StoredScoresReader {
  constructor(private readonly db: Database) {}

  /**
   * Sessions with their values, newest session first; at most `limit` + 1. Sessions are found by their own index, their turns and
   * scores by primary key. Where a trace was scored again by another version of an evaluator, the later score counts.
   */
  async list(project: string, filter: ScoresFilter, after: After | null, limit: number): Promise<StoredScoresRow[]> {
    const where = new Conditions()
      .add(project, (p) => `project = ${p}`)
      .add(filter.since, (p) => `first_at >= ${instant(p)}`)
      .add(filter.until, (p) => `first_at < ${instant(p)}`)
      .after(after, 'first_at', 's');
    const ofMetric = filter.metric === undefined ? '' : `AND c.metric = ${where.parameter(filter.metric)}`;
    return this.db.query<StoredScoresRow>(
      `SELECT x.s, x.session AS session_id, ${micros('x.first_at')} AS first_at, last.t AS last_turn_index, edge.t IS NOT NULL AS cut,
         (SELECT min(k.kind) FROM evalset.cases k WHERE k.s = x.s) AS eval_case, coalesce(own.tracks, '[]') AS tracks
       FROM (SELECT s, session, first_at FROM scoring.sessions WHERE ${where.toString()} ORDER BY first_at DESC, s LIMIT ${limit + 1}) x
       LEFT JOIN LATERAL (SELECT t FROM scoring.turns WHERE s = x.s ORDER BY t DESC LIMIT 1) last ON true
       LEFT JOIN LATERAL (SELECT t FROM scoring.turns WHERE s = x.s ORDER BY t DESC OFFSET ${NEWEST_TURNS} LIMIT 1) edge ON true
       LEFT JOIN LATERAL (
         SELECT jsonb_agg(jsonb_build_object('metric', metric, 'source', source, 'turns', turns, 'values', vals) ORDER BY metric, source) AS tracks
         FROM (
           SELECT metric, source, array_agg(t ORDER BY t, ordinal, trace) AS turns, array_agg(value ORDER BY t, ordinal, trace) AS vals
           FROM (
             SELECT DISTINCT ON (c.t, c.trace, c.metric, c.source) c.t, c.ordinal, c.trace, c.metric, c.source, c.value FROM scoring.scores c
             WHERE c.s = x.s AND c.t > coalesce(edge.t, -1) AND c.status = 'scored' AND c.value IS NOT NULL ${ofMetric}
             ORDER BY c.t, c.trace, c.metric, c.source, c.at DESC, c.evaluator DESC) one
           GROUP BY metric, source) grouped) own ON true
       ORDER BY x.first_at DESC, x.s`,
      where.parameters,
    );
  }
}
