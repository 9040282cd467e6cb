import { healthChanged, SYSTEM_PROJECT } from '#contracts';
import { derivedId } from '#domain/ids';
import type { Transaction } from '#persistence';
import { boundedReason } from '../bounded-score.js';
import type { Ending } from '../job-ending.js';
import type { ClaimedJob } from './job-claims.js';

/** Codes of blocks that wait for a person; the others pass by themselves. */
export const BLOCKING_CODES = ['auth', 'config', 'billing', 'unpriced'] as const;

/** A provider that answered is well again; one in trouble rests or is blocked, which is said once. */
export async function noteProvider(tx: Transaction, job: ClaimedJob, ending: Ending, answered: boolean): Promise<void> {
  const { project, provider } = job;
  if (ending.kind === 'rest' || ending.kind === 'blocked') return block(tx, job, ending);
  if (!answered) return;
  const [healed] = await tx.query<{ code: string; since: number }>(
    `DELETE FROM scoring.provider_blocks WHERE project = $1 AND provider = $2 RETURNING code, (extract(epoch FROM since) * 1000000)::bigint AS since`,
    [project, provider],
  );
  if (healed === undefined || !isBlocking(healed.code)) return;
  announce(tx, job, { status: 'ok', detail: `${provider} answers again`, since: healed.since });
}

const REST_MAX_MS = 300_000;

async function block(tx: Transaction, job: ClaimedJob, ending: Extract<Ending, { kind: 'rest' | 'blocked' }>): Promise<void> {
  const { project, provider } = job;
  const [row] = await tx.query<{ since: number }>(
    `INSERT INTO scoring.provider_blocks AS b (project, provider, code, detail, probe_at) VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5::float8 / 1000))
     ON CONFLICT (project, provider) DO UPDATE SET code = CASE WHEN b.code = ANY ($7::text[]) AND NOT excluded.code = ANY ($7::text[]) THEN b.code ELSE excluded.code END,
       detail = excluded.detail, probes = b.probes + 1,
       probe_at = greatest(b.probe_at, now() + make_interval(secs => least($6::float8, $5::float8 * power(2, least(b.probes + 1, 10))) / 1000))
     RETURNING (extract(epoch FROM since) * 1000000)::bigint AS since`,
    [
      project,
      provider,
      ending.code,
      boundedReason(ending.error),
      ending.delayMs,
      Math.max(REST_MAX_MS, ending.delayMs),
      [...BLOCKING_CODES],
    ],
  );
  if (row !== undefined && ending.kind === 'blocked')
    announce(tx, job, { status: 'degraded', detail: ending.error, since: row.since });
}

function isBlocking(code: string): boolean {
  return (BLOCKING_CODES as readonly string[]).includes(code);
}

/** The id is derived from the block, so that however many jobs run into it, it is said and journaled once. */
function announce(
  tx: Transaction,
  { project, provider }: ClaimedJob,
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
