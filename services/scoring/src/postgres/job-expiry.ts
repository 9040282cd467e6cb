import { OUTCOME_METRIC } from '#contracts';
import { derivedId } from '#domain/ids';
import type { Transaction } from '#persistence';
import { lockTurns, tierKeyOf, type TierKey } from './score-rows.js';
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
    `DELETE FROM scoring.score_jobs j USING json_to_recordset($1::json) AS k(s uuid, t bigint, tier smallint, provider text)
     WHERE j.s = k.s AND j.t = k.t AND j.tier = k.tier AND j.provider = k.provider AND j.expires_at <= now()
     RETURNING j.s, j.t, j.tier, j.provider, j.last_error AS error`,
    [JSON.stringify(due.map(({ s, t, tier, provider }) => ({ s, t, tier, provider })))],
  );
  await failValues(tx, gone, 'expired');
  const jobOf = (key: TierKey & { provider: string }): string => `${tierKeyOf(key)}|${key.provider}`;
  const known = new Map(due.map((one) => [jobOf(one), one]));
  for (const one of gone) {
    const { project, session } = known.get(jobOf(one)) ?? { project: '', session: '' };
    tx.journal({
      id: derivedId('score_failed', one.s, one.t, one.tier, one.provider, 'expired'),
      ...{ project, type: 'score_failed', s: one.s, session, t: one.t },
      doc: {
        tier: one.tier,
        provider: one.provider,
        code: 'expired',
        error: one.error,
        ...(one.tier === 0 ? { metric: OUTCOME_METRIC } : {}),
      },
    });
  }
  return gone.length;
}

/** Values that nobody will make any more: failed, which is neither a perfect score nor a breach. */
export async function failValues(
  tx: Transaction,
  jobs: readonly (TierKey & { readonly provider: string; readonly error: string | null })[],
  code: string,
): Promise<void> {
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
