import type { Transaction } from '#persistence';
import type { ClaimedJob } from './job-claims.js';

/** What a value cost. `costUsd` null: a call was made to a model without a price. */
export interface Spent {
  readonly model: string;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
  readonly latencyMs: number;
}

/** What was spent for a metric, whether a value came of it or not. */
export interface Spending extends Spent {
  readonly metric: string;
}

/** Sums per project, day (UTC), metric, tier, model and session; and the day's spending, which budgets look at. */
export async function saveSpendings(
  tx: Transaction,
  { s, tier, project }: ClaimedJob,
  spendings: readonly Spending[],
): Promise<void> {
  const rows = spendings
    .filter(({ calls }) => calls > 0)
    .map(({ metric, model, calls, inputTokens, outputTokens, costUsd, latencyMs }) => ({
      ...{ metric, model, calls, tokens_in: inputTokens, tokens_out: outputTokens, latency: latencyMs },
      ...{ cost: costUsd ?? 0, unpriced: costUsd === null ? calls : 0 },
    }));
  if (rows.length === 0) return;
  await tx.query(
    `INSERT INTO scoring.usage AS u (project, day, metric, tier, model, s, evals, calls, tokens_in, tokens_out, cost_usd, unpriced_calls)
     SELECT $1, (now() AT TIME ZONE 'utc')::date, metric, $2, model, $3, count(*), sum(calls), sum(tokens_in), sum(tokens_out), sum(cost), sum(unpriced)
     FROM json_to_recordset($4::json) AS r(metric text, model text, calls int, tokens_in bigint, tokens_out bigint, cost float8, unpriced int)
     GROUP BY metric, model ORDER BY metric, model
     ON CONFLICT (project, day, metric, tier, model, s) DO UPDATE SET evals = u.evals + excluded.evals, calls = u.calls + excluded.calls,
       tokens_in = u.tokens_in + excluded.tokens_in, tokens_out = u.tokens_out + excluded.tokens_out, cost_usd = u.cost_usd + excluded.cost_usd,
       unpriced_calls = u.unpriced_calls + excluded.unpriced_calls`,
    [project, tier, s, JSON.stringify(rows)],
  );
  const cost = rows.reduce((sum, row) => sum + row.cost, 0);
  if (cost === 0) return;
  await tx.query(
    `INSERT INTO scoring.spend AS d (project, day, cost_usd) VALUES ($1, (now() AT TIME ZONE 'utc')::date, $2)
     ON CONFLICT (project, day) DO UPDATE SET cost_usd = d.cost_usd + excluded.cost_usd`,
    [project, cost],
  );
}
