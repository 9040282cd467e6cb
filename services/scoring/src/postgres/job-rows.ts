import type { Tier } from '#contracts';
import type { Lane } from '#domain/scoring';
import type { Transaction } from '#persistence';
import { NOBODY } from './score-rows.js';
import { keysJson, type Key } from './turn-rows.js';

/** The provider of outcomes. */
export const VERIFIER = 'verifier';

/** Values of one tier of a turn that one provider is to make. */
export interface NewJob extends Key {
  readonly tier: Tier;
  /** `judge:<model>`, `embedding:<model>`, `webhook:<metric>`, `responder:<metric>`, `verifier`. */
  readonly provider: string;
  /** Null: nobody can do it. */
  readonly lane: Lane | null;
  readonly project: string;
  /** How many values. */
  readonly evals: number;
  /** Seconds after which it is given up. */
  readonly retryS: number;
}

/**
 * Jobs of a session take rounds one after the other, and a session without jobs enters at the round that is being served: so
 * whoever has one job waiting is next, however many another session has. Jobs that nobody can do stand in no lane, and expire.
 * Returns whether there was any.
 */
export async function insertJobs(tx: Transaction, jobs: readonly NewJob[]): Promise<boolean> {
  if (jobs.length === 0) return false;
  await tx.query(
    `INSERT INTO scoring.score_jobs (s, t, tier, provider, lane, project, evals, round, expires_at)
     SELECT k.s, k.t, k.tier, k.provider, coalesce(k.lane, '${NOBODY}'), k.project, k.evals,
       b.round + row_number() OVER (PARTITION BY k.s, k.provider ORDER BY k.t, k.tier) - 1, now() + make_interval(secs => k."retryS")
     FROM json_to_recordset($1::json) AS k(s uuid, t bigint, tier smallint, provider text, lane text, project text, evals int, "retryS" float8)
     CROSS JOIN LATERAL (SELECT coalesce(
       (SELECT max(j.round) + 1 FROM scoring.score_jobs j WHERE j.s = k.s AND j.provider = k.provider),
       (SELECT min(j.round) FROM scoring.score_jobs j WHERE j.lane = k.lane AND j.project = k.project AND j.provider = k.provider),
       0) AS round) b
     ORDER BY k.s, k.t, k.tier, k.provider ON CONFLICT DO NOTHING`,
    [JSON.stringify(jobs)],
  );
  return true;
}

/** Takes jobs away from whoever does them: what comes of it then is not saved, and they are done anew. */
export async function releaseJobs(tx: Transaction, tier: Tier, keys: readonly Key[]): Promise<void> {
  await tx.query(
    `WITH held AS (SELECT j.s, j.t, j.tier, j.provider FROM scoring.score_jobs j JOIN json_to_recordset($1::json) AS k(s uuid, t bigint) USING (s, t)
       WHERE j.tier = ${tier} AND j.lease IS NOT NULL ORDER BY j.s, j.t, j.tier, j.provider FOR UPDATE OF j)
     UPDATE scoring.score_jobs j SET lease = NULL, leased_until = NULL, claims = 0, reserved_usd = 0 FROM held h
     WHERE j.s = h.s AND j.t = h.t AND j.tier = h.tier AND j.provider = h.provider`,
    [keysJson(keys)],
  );
}
