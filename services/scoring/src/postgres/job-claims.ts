import type { Lane } from '#domain/scoring';
import type { Transaction } from '#persistence';
import type { TierKey } from './score-rows.js';

export interface ClaimedJob extends TierKey {
  readonly provider: string;
  readonly project: string;
  readonly lease: string;
  /** How often it has failed for reasons of its own. */
  readonly attempts: number;
  /** How often it was taken, since it was last given back in order: a job that kills its worker shows here. */
  readonly claims: number;
  readonly evals: number;
  /** How many of its values this claim may make. */
  readonly values: number;
  /** How often its provider refused it, and has answered others since. */
  readonly refusals: number;
  /** Its provider was in trouble when it was taken: it tries for all the others. */
  readonly probing: boolean;
}

/**
 * A project whose spending is bounded. `reserveUsd`: by provider, what one value usually costs at most, 0 when nothing can be said of
 * it. What waits for a provider that is not among them is not taken.
 */
export interface CostLimit {
  readonly project: string;
  readonly maxUsd: number;
  readonly reserveUsd: Readonly<Record<string, number>>;
}

export interface Claim {
  readonly lane: Lane;
  /** At most so many jobs. */
  readonly most: number;
  readonly lease: string;
  readonly limits: readonly CostLimit[];
  /** Evaluations of each project that the worker has already: whoever has fewer is next. */
  readonly held?: ReadonlyMap<string, number>;
  /** A project that holds so many gets no more. */
  readonly share?: number | null;
}

/** Values that one claim works on at most, so that a turn of a thousand traces gives way to others in between. */
export const EVALS_PER_CLAIM = 16;
export const LEASE_S = 60;
/** Whoever takes a job of a provider that was in trouble tries it for the others, who wait so long. */
const PROBE_S = 30;

/**
 * Leases the next jobs: every project in turn, with what the worker holds of it taken into account, and within a project every
 * session in turn. A provider that is blocked or rests is left alone until its time; then one job tries it. A project with a cost
 * limit gets no more than what is left of its day can pay, with what others have reserved taken off.
 */
export async function claimJobs(tx: Transaction, claim: Claim): Promise<ClaimedJob[]> {
  const { lane, most, lease, limits, held = new Map<string, number>(), share = null } = claim;
  const limited = JSON.stringify(
    (await lockLimited(tx, lane, limits)).map(({ project, maxUsd, reserveUsd }) => ({
      project,
      max: maxUsd,
      reserve: reserveUsd,
    })),
  );
  const claimed = await tx.query<ClaimedJob>(CLAIM, [
    lane,
    most,
    lease,
    limited,
    JSON.stringify(Object.fromEntries(held)),
    share,
  ]);
  await probe(
    tx,
    claimed.filter(({ probing }) => probing),
  );
  return claimed;
}

/**
 * One process at a time reserves of a project's money. Only those that have jobs are locked: one whose first job comes in beside
 * us may reserve nothing in this claim.
 */
async function lockLimited(tx: Transaction, lane: Lane, limits: readonly CostLimit[]): Promise<CostLimit[]> {
  if (limits.length === 0) return [];
  const projects = limits.map(({ project }) => project);
  const waiting = `project = ANY ($1::text[]) AND EXISTS (SELECT 1 FROM scoring.score_jobs j WHERE j.lane = $2 AND j.project = p.project)`;
  await tx.query(
    `INSERT INTO scoring.budgets (project) SELECT project FROM unnest($1::text[]) AS p(project) WHERE ${waiting} ORDER BY project ON CONFLICT DO NOTHING`,
    [projects, lane],
  );
  const rows = await tx.query<{ project: string }>(
    `SELECT project FROM scoring.budgets p WHERE ${waiting} ORDER BY project FOR UPDATE OF p`,
    [projects, lane],
  );
  const locked = new Set(rows.map(({ project }) => project));
  return limits.map((limit) => (locked.has(limit.project) ? limit : { ...limit, maxUsd: 0 }));
}

async function probe(tx: Transaction, claimed: readonly ClaimedJob[]): Promise<void> {
  if (claimed.length === 0) return;
  await tx.query(
    `UPDATE scoring.provider_blocks b SET probe_at = now() + interval '${PROBE_S} seconds'
     FROM (SELECT DISTINCT project, provider FROM json_to_recordset($1::json) AS r(project text, provider text)) k
     WHERE b.project = k.project AND b.provider = k.provider`,
    [JSON.stringify(claimed.map(({ project, provider }) => ({ project, provider })))],
  );
}

/** Distinct (project, provider) pairs are found by hopping through the index: what it costs grows with them, not with the queue. */
export const PAIRS = `
WITH RECURSIVE pairs AS (
  (SELECT project, provider FROM scoring.score_jobs WHERE lane = $1 ORDER BY project, provider LIMIT 1)
  UNION ALL
  SELECT n.project, n.provider FROM pairs p CROSS JOIN LATERAL (
    SELECT j.project, j.provider FROM scoring.score_jobs j
    WHERE j.lane = $1 AND (j.project, j.provider) > (p.project, p.provider) ORDER BY j.project, j.provider LIMIT 1) n
)`;

/** Sums of dollars that should be equal differ by less. */
const ROUNDING_USD = 1e-9;

/**
 * `left_usd` is null without a limit. What cannot pay one value is left out before it is counted, or it would stand before what can.
 * `next` is cut to its few rows before they are locked, or the planner expects thousands, and reads the whole queue for them.
 */
const CLAIM = `${PAIRS}, open AS (
  SELECT p.project, p.provider, b.project IS NOT NULL AS probing, b.since, CASE WHEN b.project IS NULL THEN 2 * $2::int ELSE 1 END AS most, m.left_usd, m.reserve
  FROM pairs p
  LEFT JOIN scoring.provider_blocks b USING (project, provider)
  LEFT JOIN json_to_recordset($4::json) AS l(project text, max float8, reserve json) USING (project)
  LEFT JOIN scoring.spend d ON l.project IS NOT NULL AND d.project = p.project AND d.day = (now() AT TIME ZONE 'utc')::date
  CROSS JOIN LATERAL (SELECT CASE WHEN l.project IS NULL THEN 0 ELSE coalesce((SELECT sum(j.reserved_usd) FROM scoring.score_jobs j
    WHERE j.project = p.project AND j.reserved_usd > 0 AND j.leased_until > now()), 0) END AS usd) r
  CROSS JOIN LATERAL (SELECT l.max - coalesce(d.cost_usd, 0) - r.usd + ${ROUNDING_USD} AS left_usd,
    CASE WHEN l.project IS NULL THEN 0 ELSE (l.reserve ->> p.provider)::float8 END AS reserve) m
  WHERE (b.probe_at IS NULL OR b.probe_at <= now())
    AND (m.left_usd IS NULL OR (m.left_usd > ${ROUNDING_USD} AND m.reserve <= m.left_usd))
), heads AS (
  SELECT o.project, o.left_usd, o.reserve, o.probing, o.since, c.*,
    least(c.evals, ${EVALS_PER_CLAIM}, floor(o.left_usd / nullif(o.reserve, 0)))::int AS used,
    row_number() OVER (PARTITION BY o.project, o.provider ORDER BY c.round, c.asked_at, c.s, c.t, c.tier) AS nth
  FROM open o CROSS JOIN LATERAL (
    SELECT j.s, j.t, j.tier, j.provider, j.round, j.asked_at, j.evals FROM scoring.score_jobs j
    WHERE j.lane = $1 AND j.project = o.project AND j.provider = o.provider AND j.run_after <= now() AND (j.leased_until IS NULL OR j.leased_until <= now())
    ORDER BY j.round, j.asked_at, j.s, j.t, j.tier LIMIT o.most) c
), turns AS (
  SELECT h.*, n.held + row_number() OVER (PARTITION BY h.project ORDER BY h.nth, h.provider) AS place,
    n.held + sum(h.used) OVER (PARTITION BY h.project ORDER BY h.nth, h.provider ROWS UNBOUNDED PRECEDING) - h.used AS before,
    sum(h.used * h.reserve) OVER (PARTITION BY h.project ORDER BY h.nth, h.provider ROWS UNBOUNDED PRECEDING) - h.used * h.reserve AS before_usd
  FROM heads h CROSS JOIN LATERAL (SELECT coalesce(($5::json ->> h.project)::int, 0) AS held) n
), next AS (
  SELECT t.*, v.values, md5(t.s::text || $3::text) AS shuffled
  FROM turns t CROSS JOIN LATERAL (SELECT least(t.used, floor((t.left_usd - t.before_usd) / nullif(t.reserve, 0)))::int AS values) v
  WHERE v.values > 0 AND ($6::int IS NULL OR t.before < $6::int) ORDER BY t.place, shuffled LIMIT 2 * $2::int
), chosen AS (
  SELECT j.s, j.t, j.tier, j.provider, t.probing, t.since, t.values, t.reserve * t.values AS reserved
  FROM next t JOIN scoring.score_jobs j USING (s, t, tier, provider)
  WHERE j.run_after <= now() AND (j.leased_until IS NULL OR j.leased_until <= now())
  ORDER BY t.place, t.shuffled LIMIT $2::int FOR UPDATE OF j SKIP LOCKED
)
UPDATE scoring.score_jobs j SET lease = ($3::text)::uuid, leased_until = now() + interval '${LEASE_S} seconds', claims = j.claims + 1, reserved_usd = c.reserved
FROM chosen c WHERE j.s = c.s AND j.t = c.t AND j.tier = c.tier AND j.provider = c.provider
RETURNING j.s, j.t, j.tier, j.provider, j.project, j.lease, j.attempts, j.claims, j.evals, c.probing, c.values,
  j.refusals + (j.refused_at IS NOT NULL AND (c.since IS NULL OR c.since > j.refused_at))::int AS refusals`;
