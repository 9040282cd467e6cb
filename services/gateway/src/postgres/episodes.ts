import type { EpisodeDetail } from '#contracts';
import { derivedId } from '#domain/ids';
import type { UnitOfWork } from '#persistence';
import { micros, type Database } from './database.js';

/** Episodes `e` with where their repair is, `w`. */
export const EPISODES = 'mailbox.episodes e LEFT JOIN repair.work w ON w.episode = e.id';

/** The columns of an Episode. */
export const EPISODE_COLUMNS = `e.id, e.session AS session_id, e.t AS turn_index, e.incident_id, e.notice_ids, e.status, e.attempt, e.recommended_scope,
  ${micros('e.opened_at')} AS opened_at, ${micros('e.settled_at')} AS settled_at, e.outcome,
  CASE WHEN w.episode IS NOT NULL THEN jsonb_build_object('state', w.state, 'waits_for', w.waits_for, 'runs', w.runs, 'failures', w.failures,
    'next_run_at', CASE WHEN w.state = 'waiting' THEN ${micros('w.run_after')} END, 'last_error', w.last_error) END AS work`;

const RUNS = `(SELECT coalesce(jsonb_agg(jsonb_build_object('run', r.run, 'started_at', ${micros('r.started_at')}, 'ended_at', ${micros('r.ended_at')},
  'model', r.model, 'status', r.status, 'result', r.result) ORDER BY r.run), '[]') FROM repair.runs r WHERE r.episode = e.id) AS runs`;

export type Retried = 'retried' | 'unknown' | 'not_blocked';

/** One episode, and an operator's word that its repair may be tried again. */
export class Episodes {
  constructor(
    private readonly db: Database,
    private readonly work: UnitOfWork,
  ) {}

  async find(project: string, id: string): Promise<EpisodeDetail | undefined> {
    const [row] = await this.db.query<EpisodeDetail>(
      `SELECT ${EPISODE_COLUMNS}, ${RUNS} FROM ${EPISODES} WHERE e.project = $1 AND e.id = $2`,
      [project, id],
    );
    return row;
  }

  /** The runs so far stay; its failures are counted anew. */
  async retry(project: string, id: string, who: string): Promise<Retried> {
    return this.work.run(async (tx) => {
      const [episode] = await tx.query<{ s: string; session: string; t: number; runs: number | null }>(
        `SELECT e.s, e.session, e.t, w.runs FROM ${EPISODES} WHERE e.project = $1 AND e.id = $2`,
        [project, id],
      );
      if (episode === undefined) return 'unknown';
      const freed = await tx.query(
        `UPDATE repair.work SET state = 'waiting', waits_for = NULL, failures = 0, run_after = now()
         WHERE episode = $1 AND state = 'blocked' RETURNING episode`,
        [id],
      );
      if (freed.length === 0) return 'not_blocked';
      const { s, session, t, runs } = episode;
      tx.journal({
        id: derivedId('episode_retried', id, runs ?? 0),
        project,
        type: 'episode_retried',
        ...{ s, session, t, episode: id },
        doc: { by: who },
      });
      return 'retried';
    });
  }
}
