import type { PendingSession } from '#contracts';
import { sessionKey } from '#domain/ids';
import { Conditions, type After } from './conditions.js';
import { micros, type Database } from './database.js';

/** With the key that names the session inside, which sorts those of the same moment. */
export type PendingSessionRow = PendingSession & { readonly s: string };

/**
 * A turn without a report that waits for nothing that is stored is on its way between two services. One that is older than this has a
 * service down before it, which the backlog of its consumer tells; it is not searched for among all turns.
 */
const ON_ITS_WAY_US = 3_600_000_000;
/** Of one session. */
const SHOWN = 50;

export class PendingSessions {
  constructor(private readonly db: Database) {}

  /** By when the oldest thing in flight began, newest first; at most `limit` + 1. */
  async list(project: string, session: string | undefined, after: After | null, limit: number): Promise<PendingSessionRow[]> {
    const own = new Conditions().add(project, (p) => `x.project = ${p}`);
    own.add(session === undefined ? undefined : sessionKey(project, session), (p) => `x.s = ${p}`);
    const page = new Conditions();
    page.parameters.push(...own.parameters);
    page.after(after, 'since_at', 's');
    const where = page.toString() === '' ? '' : `WHERE ${page.toString()}`;
    return this.db.query<PendingSessionRow>(
      `WITH turns AS (${turnsOf(own.toString())}), episodes AS (${episodesOf(own.toString())}),
       flights AS (SELECT s, min(at) AS since_at FROM (SELECT s, at FROM turns UNION ALL SELECT s, at FROM episodes) one GROUP BY s)
       SELECT f.s, n.session AS session_id, ${micros('f.since_at')} AS since,
         coalesce((SELECT json_agg(t.doc ORDER BY t.t) FROM (SELECT * FROM turns t WHERE t.s = f.s ORDER BY t.t LIMIT ${SHOWN}) t), '[]') AS turns,
         coalesce((SELECT json_agg(e.doc ORDER BY e.at, e.id) FROM (SELECT * FROM episodes e WHERE e.s = f.s ORDER BY e.at, e.id LIMIT ${SHOWN}) e), '[]') AS episodes
       FROM (SELECT * FROM flights ${where} ORDER BY since_at DESC, s LIMIT ${limit + 1}) f JOIN scoring.sessions n ON n.s = f.s
       ORDER BY f.since_at DESC, f.s`,
      page.parameters,
    );
  }
}

/** Turns that wait for traces or scores, and those accepted lately that have no report. */
function turnsOf(where: string): string {
  return `
    SELECT x.s, x.t, 'epoch'::timestamptz + x.accepted_us * interval '1 microsecond' AS at, json_build_object('turn_index', x.t, 'accepted_at', x.accepted_us,
      'waits_for', CASE WHEN x.wait_until IS NOT NULL THEN 'traces' WHEN tiers.list IS NOT NULL THEN 'scores' ELSE 'report' END,
      'tiers_pending', coalesce(tiers.list, '[]')) AS doc
    FROM (
      SELECT s, t FROM scoring.turns x WHERE wait_until IS NOT NULL AND ${where}
      UNION SELECT s, t FROM scoring.tier_waits
      UNION SELECT x.s, x.t FROM scoring.turns x WHERE x.accepted_us >= (extract(epoch FROM now()) * 1000000)::bigint - ${ON_ITS_WAY_US} AND ${where}
        AND NOT EXISTS (SELECT 1 FROM gating.turn_evals e WHERE e.s = x.s AND e.t = x.t AND (e.rev > 0 OR NOT e.folded))) k
    JOIN scoring.turns x ON x.s = k.s AND x.t = k.t
    CROSS JOIN LATERAL (SELECT json_agg(w.tier ORDER BY w.tier) AS list FROM scoring.tier_waits w WHERE w.s = x.s AND w.t = x.t) tiers
    WHERE ${where} AND x.skipped IS NULL`;
}

/** Why an episode waits is its own row's to say, or that of the episode that speaks for its incident. */
function episodesOf(where: string): string {
  return `
    SELECT x.s, x.id, x.opened_at AS at, json_build_object('id', x.id, 'turn_index', x.t, 'status', x.status, 'waits_for',
      CASE WHEN w.state IS NULL THEN 'no_repair_service' WHEN w.state = 'blocked' THEN 'operator' WHEN w.state = 'running' THEN 'repair' ELSE coalesce(w.waits_for, 'repair') END) AS doc
    FROM mailbox.episodes x LEFT JOIN mailbox.incidents i ON i.id = x.incident_id
    LEFT JOIN LATERAL (SELECT w.state, w.waits_for FROM repair.work w WHERE w.episode IN (x.id, i.opened_by) AND w.state <> 'done'
      ORDER BY w.episode = x.id DESC LIMIT 1) w ON true
    WHERE x.status IN ('open', 'claimed') AND ${where}`;
}
