import type { Lane } from '#domain/scoring';
import type { Database } from './database.js';

/** The work that waits in one lane, or is in hand. */
export interface ScoreQueue {
  readonly lane: Lane;
  /** Counted up to MAX_COUNTED_JOBS. */
  readonly jobs: number;
  /** Seconds since the oldest of the jobs that are next was asked for; null when there is none. */
  readonly oldestS: number | null;
}

/** Counting goes no further: a scrape must cost the same in an outage of hours. */
export const MAX_COUNTED_JOBS = 100_000;
/** Jobs of one project and provider that are next: they are taken by rounds, and within a round the oldest first. */
const HEADS = 100;

/**
 * Pairs of project and provider are found by hopping through the index that claims use, so what this costs grows with them and
 * not with the queue.
 */
const QUEUES = `
WITH RECURSIVE pairs AS (
  SELECT lane, n.project, n.provider FROM unnest($1::text[]) AS l(lane) CROSS JOIN LATERAL (
    SELECT j.project, j.provider FROM scoring.score_jobs j WHERE j.lane = l.lane ORDER BY j.project, j.provider LIMIT 1) n
  UNION ALL
  SELECT p.lane, n.project, n.provider FROM pairs p CROSS JOIN LATERAL (
    SELECT j.project, j.provider FROM scoring.score_jobs j
    WHERE j.lane = p.lane AND (j.project, j.provider) > (p.project, p.provider) ORDER BY j.project, j.provider LIMIT 1) n
)
SELECT l.lane,
  (SELECT count(*) FROM (SELECT 1 FROM pairs p CROSS JOIN LATERAL (
    SELECT 1 FROM scoring.score_jobs j WHERE j.lane = p.lane AND j.project = p.project AND j.provider = p.provider LIMIT ${MAX_COUNTED_JOBS}) one
    WHERE p.lane = l.lane LIMIT ${MAX_COUNTED_JOBS}) counted) AS jobs,
  (SELECT extract(epoch FROM now() - min(h.asked_at))::float8 FROM pairs p CROSS JOIN LATERAL (
    SELECT j.asked_at FROM scoring.score_jobs j WHERE j.lane = p.lane AND j.project = p.project AND j.provider = p.provider
    ORDER BY j.round, j.asked_at LIMIT ${HEADS}) h WHERE p.lane = l.lane) AS "oldestS"
FROM unnest($1::text[]) AS l(lane)`;

/** The queues of scoring, as its workers see them. Jobs that nobody can do (values that only a host sends) are in no lane. */
export class ScoreQueues {
  constructor(private readonly db: Database) {}

  ofLanes(lanes: readonly Lane[]): Promise<ScoreQueue[]> {
    return this.db.query<ScoreQueue>(QUEUES, [[...lanes]]);
  }
}
