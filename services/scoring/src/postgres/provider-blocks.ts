import { healthChanged, SYSTEM_PROJECT } from '#contracts';
import { derivedId } from '#domain/ids';
import { isBlocking, lanes } from '#domain/scoring';
import type { Transaction } from '#persistence';
import { boundedReason } from '../bounded-score.js';
import type { Ending } from '../job-ending.js';
import type { ClaimedJob } from './job-claims.js';

/**
 * A provider that answered whoever tried it is well again; one in trouble rests or is blocked, which is said once. What was asked
 * before the trouble began and is answered now says nothing: half of the calls beside a refusal succeed.
 */
export async function noteProvider(tx: Transaction, job: ClaimedJob, ending: Ending, answered: boolean): Promise<void> {
  const { project, provider } = job;
  if (ending.kind === 'rest' || ending.kind === 'blocked') return block(tx, job, ending);
  if (!job.probing) return;
  if (!answered) return ending.kind === 'failed' ? undefined : nextProbe(tx, job);
  const [healed] = await tx.query<{ code: string; since: number }>(
    `DELETE FROM scoring.provider_blocks WHERE project = $1 AND provider = $2 RETURNING code, (extract(epoch FROM since) * 1000000)::bigint AS since`,
    [project, provider],
  );
  if (healed === undefined || !isBlocking(healed.code)) return;
  announce(tx, job, { status: 'ok', detail: `${provider} answers again`, since: healed.since });
}

/**
 * A provider whose time to be tried has come and that no job is left for: a mistyped model was corrected, a project asks another
 * one. Nothing would ever try it, and what nobody asks is in nobody's way.
 */
export async function forgetUnasked(tx: Transaction): Promise<void> {
  const forgotten = await tx.query<{ project: string; provider: string; code: string; since: number }>(
    `DELETE FROM scoring.provider_blocks b USING (
       SELECT d.project, d.provider FROM scoring.provider_blocks d WHERE d.probe_at <= now() AND NOT EXISTS (
         SELECT 1 FROM scoring.score_jobs j WHERE j.lane = ANY ($1::text[]) AND j.project = d.project AND j.provider = d.provider)
       ORDER BY d.project, d.provider FOR UPDATE OF d SKIP LOCKED) u
     WHERE b.project = u.project AND b.provider = u.provider
     RETURNING b.project, b.provider, b.code, (extract(epoch FROM b.since) * 1000000)::bigint AS since`,
    [lanes],
  );
  for (const one of forgotten.filter(({ code }) => isBlocking(code)))
    announce(tx, one, { status: 'ok', detail: `${one.provider} is not asked any more`, since: one.since });
}

/** It needed nobody after all: the next job may try at once. */
async function nextProbe(tx: Transaction, { project, provider }: ClaimedJob): Promise<void> {
  await tx.query('UPDATE scoring.provider_blocks SET probe_at = now() WHERE project = $1 AND provider = $2', [project, provider]);
}

/** The wait doubles from one failed try to the next, up to this. */
const REST_MAX_MS = 300_000;
/** A provider that wants to be left alone for longer is asked all the same: hints are wrong, and jobs do not live for ever. */
const HINT_MAX_MS = 3_600_000;
const DOUBLINGS_MAX = 10;

async function block(tx: Transaction, job: ClaimedJob, ending: Extract<Ending, { kind: 'rest' | 'blocked' }>): Promise<void> {
  const { project, provider } = job;
  await tx.query(
    `INSERT INTO scoring.provider_blocks (project, provider, code, detail, probe_at) VALUES ($1, $2, '', '', now()) ON CONFLICT DO NOTHING`,
    [project, provider],
  );
  const [before = { code: '', since: 0, probes: 0 }] = await tx.query<{ code: string; since: number; probes: number }>(
    `SELECT code, (extract(epoch FROM since) * 1000000)::bigint AS since, probes FROM scoring.provider_blocks
     WHERE project = $1 AND provider = $2 FOR UPDATE`,
    [project, provider],
  );
  const wasBlocked = isBlocking(before.code);
  // Several calls run into the same trouble side by side: only a try that was made because of it counts.
  const probes = before.probes + (job.probing ? 1 : 0);
  const least = Math.min(ending.delayMs, HINT_MAX_MS);
  const delayMs = Math.max(least, Math.min(REST_MAX_MS, least * 2 ** Math.min(probes, DOUBLINGS_MAX)));
  await tx.query(
    `UPDATE scoring.provider_blocks b SET code = $3, detail = $4, probes = $5,
       probe_at = greatest(CASE WHEN NOT $7 THEN b.probe_at END, now() + make_interval(secs => $6::float8 / 1000))
     WHERE project = $1 AND provider = $2`,
    [
      ...[project, provider, wasBlocked && ending.kind === 'rest' ? before.code : ending.code],
      ...[boundedReason(ending.error), probes, delayMs, job.probing],
    ],
  );
  if (ending.ofQuestion === true) await noteRefusal(tx, job);
  if (ending.kind === 'blocked' && !wasBlocked)
    announce(tx, job, { status: 'degraded', detail: ending.error, since: before.since });
}

/** By the clock, under the row of the trouble: whichever trouble begins after this one had somebody's answer in between. */
async function noteRefusal(tx: Transaction, { s, t, tier, provider, refusals }: ClaimedJob): Promise<void> {
  await tx.query(
    `UPDATE scoring.score_jobs SET refusals = $5, refused_at = clock_timestamp() WHERE s = $1 AND t = $2 AND tier = $3 AND provider = $4`,
    [s, t, tier, provider, refusals],
  );
}

/** The id is derived from the block, so that however many jobs run into it, it is said and journaled once. */
function announce(
  tx: Transaction,
  { project, provider }: Pick<ClaimedJob, 'project' | 'provider'>,
  { status, detail, since }: { status: 'ok' | 'degraded'; detail: string; since: number },
): void {
  const type = status === 'ok' ? 'judge_resumed' : 'judge_blocked';
  const text = boundedReason(detail) ?? '';
  tx.journal({ id: derivedId(type, project, provider, since), project, type, doc: { provider, detail: text } });
  tx.emit({
    event: healthChanged,
    id: derivedId('health', type, project, provider, since),
    project: SYSTEM_PROJECT,
    tail: ['scoring'],
    payload: { service: 'scoring', status, dependency: `judge_blocked:${project}:${provider}`, detail: text, at: since },
  });
}
