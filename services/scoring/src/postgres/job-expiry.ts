import { OUTCOME_METRIC } from '#contracts';
import { derivedId } from '#domain/ids';
import type { Transaction } from '#persistence';
import { lockTurns, tierKeyOf, type TierKey } from './score-rows.js';
import { boundedReason } from '../bounded-score.js';
import type { ClaimedJob } from './job-claims.js';
import { settleTiers } from './settle-tiers.js';

/** Jobs that could not be done in time: their values have failed, and the tiers say so. Returns how many. */
export async function expireJobs(tx: Transaction, most: number): Promise<number> {
  const due = await tx.query<TierKey & { provider: string; project: string; session: string }>(
    `SELECT j.s, j.t, j.tier, j.provider, j.project, x.session FROM scoring.score_jobs j JOIN scoring.sessions x USING (s)
     WHERE j.expires_at <= now() ORDER BY j.expires_at LIMIT $1`,
    [most],
  );
  if (due.length === 0) return 0;
  await lockTurns(tx, due);
  const gone = await tx.query<TierKey & { provider: string; error: string | null }>(
    `WITH due AS (SELECT j.s, j.t, j.tier, j.provider FROM scoring.score_jobs j
       JOIN json_to_recordset($1::json) AS k(s uuid, t bigint, tier smallint, provider text) USING (s, t, tier, provider)
       WHERE j.expires_at <= now() ORDER BY j.s, j.t, j.tier, j.provider FOR UPDATE OF j)
     DELETE FROM scoring.score_jobs j USING due k WHERE j.s = k.s AND j.t = k.t AND j.tier = k.tier AND j.provider = k.provider
     RETURNING j.s, j.t, j.tier, j.provider, j.last_error AS error`,
    [JSON.stringify(due.map(({ s, t, tier, provider }) => ({ s, t, tier, provider })))],
  );
  const jobOf = (key: TierKey & { provider: string }): string => `${tierKeyOf(key)}|${key.provider}`;
  const errors = new Map(gone.map((one) => [jobOf(one), one.error]));
  const own = due.flatMap((one) => {
    const error = errors.get(jobOf(one));
    return error === undefined ? [] : [{ ...one, error }];
  });
  await failValues(tx, own, 'expired');
  return own.length;
}

/** A job that can never be done, taken by us: its values have failed, and the tier says so. */
export async function giveUpJob(
  tx: Transaction,
  job: ClaimedJob,
  { code, error }: { code: string; error: string },
): Promise<void> {
  await lockTurns(tx, [job]);
  const gone = await tx.query<{ session: string }>(
    `DELETE FROM scoring.score_jobs j USING scoring.sessions x
     WHERE x.s = j.s AND j.s = $1 AND j.t = $2 AND j.tier = $3 AND j.provider = $4 AND j.lease = $5 RETURNING x.session`,
    [job.s, job.t, job.tier, job.provider, job.lease],
  );
  await failValues(
    tx,
    gone.map(({ session }) => ({ ...job, session, error: boundedReason(error) })),
    code,
  );
}

interface GoneJob extends TierKey {
  readonly provider: string;
  readonly project: string;
  readonly session: string;
  readonly error: string | null;
}

/** Values that nobody will make any more: failed, which is neither a perfect score nor a breach. */
async function failValues(tx: Transaction, jobs: readonly GoneJob[], code: string): Promise<void> {
  for (const { s, t, tier, provider, project, session, error } of jobs) {
    tx.journal({
      id: derivedId('score_failed', s, t, tier, provider, code),
      ...{ project, type: 'score_failed', s, session, t },
      doc: { tier, provider, code, error, ...(tier === 0 ? { metric: OUTCOME_METRIC } : {}) },
    });
  }
  const own = jobs.filter(({ tier }) => tier !== 0);
  if (own.length === 0) return;
  await tx.query(
    `UPDATE scoring.scores c SET status = 'failed', code = $2, reason = coalesce(k.error, c.reason, 'No value could be had in time.'), provider = NULL, at = now()
     FROM json_to_recordset($1::json) AS k(s uuid, t bigint, tier smallint, provider text, error text)
     WHERE c.s = k.s AND c.t = k.t AND c.tier = k.tier AND c.provider = k.provider AND c.status = 'pending'`,
    [JSON.stringify(own), code],
  );
  await settleTiers(tx, [...new Map(own.map(({ s, t, tier }) => [tierKeyOf({ s, t, tier }), { s, t, tier }])).values()]);
}
