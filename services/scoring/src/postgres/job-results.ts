import type { Score } from '#contracts';
import { derivedId } from '#domain/ids';
import { storable } from '#domain/text';
import type { Transaction } from '#persistence';
import { boundedReason, boundedScore } from '../bounded-score.js';
import type { Ending } from '../job-ending.js';
import type { ClaimedJob } from './job-claims.js';
import { noteProvider } from './provider-blocks.js';
import { lockTurns } from './score-rows.js';
import { settleTiers } from './settle-tiers.js';
import { saveSpendings, type Spending, type Spent } from './usage-rows.js';

/** A value that an evaluator has made; `askedAs` is the evaluator under which it waited. */
export interface Evaluated {
  readonly score: Score;
  readonly askedAs: string;
  readonly promptHash: string | null;
  /** Null: it cost nothing. */
  readonly spent: Spent | null;
}

export interface StageResult {
  readonly trace: string;
  readonly stage: string;
  readonly result: unknown;
}

export interface JobResult {
  readonly job: ClaimedJob;
  readonly evaluated: readonly Evaluated[];
  readonly spendings: readonly Spending[];
  readonly stages: readonly StageResult[];
  readonly ending: Ending;
  /** Whether the provider was asked and answered, whatever it said. */
  readonly answered: boolean;
  /** The database went away when this was saved before; it may have been. */
  readonly again?: boolean;
}

/**
 * Records what a claim came to, in one transaction: values, what they cost, shared stages, the job's next state, the answers that
 * are complete with it. A job that somebody else has taken meanwhile changes nothing; what was spent was spent.
 */
export async function saveJobResult(tx: Transaction, result: JobResult): Promise<void> {
  const { job, evaluated, spendings, stages, ending, answered } = result;
  await lockTurns(tx, [job]);
  const held = await tx.query(
    'SELECT 1 FROM scoring.score_jobs WHERE s = $1 AND t = $2 AND tier = $3 AND provider = $4 AND lease = $5 FOR UPDATE',
    [job.s, job.t, job.tier, job.provider, job.lease],
  );
  if (held.length > 0) {
    await saveStages(tx, job, stages);
    await saveValues(tx, job, evaluated);
    await journalFailures(tx, job, evaluated);
    await endClaim(tx, job, ending);
    await noteProvider(tx, job, ending, answered);
    if (evaluated.length > 0) await settleTiers(tx, [job]);
  }
  // A job that is not ours when we save once more was most likely saved by us: its cost is counted already.
  // Last, for all results of a project pass through the one row of its day.
  if (held.length > 0 || result.again !== true) await saveSpendings(tx, job, spendings);
}

async function saveValues(tx: Transaction, job: ClaimedJob, evaluated: readonly Evaluated[]): Promise<void> {
  if (evaluated.length === 0) return;
  const rows = evaluated.map(({ score, askedAs, promptHash, spent }) => {
    const { metric, status, value, reason, code, spans, evaluator, trace_id: trace } = boundedScore(score);
    return {
      ...{
        metric,
        status,
        value,
        reason,
        code,
        spans,
        evaluator,
        trace: trace ?? '',
        asked_as: askedAs,
        prompt_hash: promptHash,
      },
      ...{ model: spent?.model, tokens_in: spent?.inputTokens, tokens_out: spent?.outputTokens, cost_usd: spent?.costUsd },
      latency_ms: spent === null ? null : Math.round(spent.latencyMs),
    };
  });
  await tx.query(
    `UPDATE scoring.scores c SET status = r.status, value = r.value, reason = r.reason, code = r.code, spans = ARRAY(SELECT json_array_elements_text(r.spans)),
       evaluator = r.evaluator, prompt_hash = r.prompt_hash, model = r.model, tokens_in = r.tokens_in, tokens_out = r.tokens_out, cost_usd = r.cost_usd,
       latency_ms = r.latency_ms, attempts = $5, provider = NULL, at = now()
     FROM json_to_recordset($4::json) AS r(trace text, metric text, asked_as text, evaluator text, status text, value float8, reason text, code text, spans json,
       prompt_hash text, model text, tokens_in int, tokens_out int, cost_usd float8, latency_ms int)
     WHERE c.s = $1 AND c.t = $2 AND c.tier = $3 AND c.trace = r.trace AND c.metric = r.metric AND c.evaluator = r.asked_as AND c.status = 'pending'`,
    [job.s, job.t, job.tier, JSON.stringify(rows), job.attempts + 1],
  );
}

/** Values that were tried and have failed for good. */
async function journalFailures(
  tx: Transaction,
  { s, t, tier, provider, project }: ClaimedJob,
  evaluated: readonly Evaluated[],
): Promise<void> {
  const failed = evaluated.filter(({ score }) => score.status === 'failed');
  if (failed.length === 0) return;
  const [{ session } = { session: null }] = await tx.query<{ session: string }>(
    'SELECT session FROM scoring.sessions WHERE s = $1',
    [s],
  );
  for (const { score } of failed) {
    const { metric, trace_id, code, reason } = boundedScore(score);
    tx.journal({
      id: derivedId('score_failed', s, t, tier, metric, trace_id ?? '', score.evaluator),
      ...{ project, type: 'score_failed', s, session, t },
      doc: { tier, provider, metric, trace_id, code, error: reason },
    });
  }
}

async function saveStages(tx: Transaction, { s, t }: ClaimedJob, stages: readonly StageResult[]): Promise<void> {
  if (stages.length === 0) return;
  await tx.query(
    `INSERT INTO scoring.judge_stages (s, t, trace, stage, result)
     SELECT $1, $2, trace, stage, result FROM json_to_recordset($3::json) AS r(trace text, stage text, result jsonb) ORDER BY trace, stage ON CONFLICT DO NOTHING`,
    [s, t, JSON.stringify(storable(stages).value)],
  );
}

/** How many rounds back a job goes: behind other sessions, and where its provider is in trouble behind its session's next job too. */
const ROUNDS_BACK = { returned: 0, done: 1, failed: 1, dropped: 1, rest: 2, blocked: 2 } as const;

/** A job without pending values is over; otherwise it is free again, further back, so that one at fault does not keep the others. */
async function endClaim(tx: Transaction, job: ClaimedJob, ending: Ending): Promise<void> {
  const key = [job.s, job.t, job.tier, job.provider];
  const where = 's = $1 AND t = $2 AND tier = $3 AND provider = $4';
  const [left] = await tx.query<{ n: number }>(
    `SELECT count(*) AS n FROM scoring.scores WHERE ${where} AND status = 'pending'`,
    key,
  );
  const over = job.tier === 0 ? ending.kind === 'done' : (left?.n ?? 0) === 0;
  if (over || ending.kind === 'dropped') {
    await tx.query(`DELETE FROM scoring.score_jobs WHERE ${where}`, key);
    return;
  }
  const later = ending.kind === 'failed' ? ending.delayMs : 0;
  const failures = ending.kind === 'failed' ? 1 : 0;
  const error = 'error' in ending ? boundedReason(ending.error) : null;
  await tx.query(
    `UPDATE scoring.score_jobs SET lease = NULL, leased_until = NULL, claims = 0, reserved_usd = 0, evals = greatest(1, $8), attempts = attempts + $6,
       round = round + $9, run_after = now() + make_interval(secs => $5::float8 / 1000), last_error = $7
     WHERE ${where}`,
    [...key, later, failures, error, left?.n ?? 1, ROUNDS_BACK[ending.kind]],
  );
}
