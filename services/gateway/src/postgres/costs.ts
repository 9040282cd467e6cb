import { MAX_COST_GROUPS, type CostDimension, type CostGroup, type CostSums } from '#contracts';
import type { MetricSpending } from '#domain/costs';
import { micros, type Database } from './database.js';

/** UTC days, `until` not included. */
export interface Period {
  readonly since: string;
  readonly until: string;
}

export interface CostGroups {
  readonly groups: CostGroup[];
  readonly others: (CostSums & { readonly groups: number }) | null;
}

export interface BudgetRow {
  readonly day: string;
  readonly spent_usd: number;
  readonly reserved_usd: number;
  /** Null while no window is open. */
  readonly admitted: number | null;
  readonly skipped: number | null;
  readonly window_start: number | null;
  readonly window_end: number | null;
}

const SUMS = ['evals', 'calls', 'tokens_in', 'tokens_out', 'cost_usd', 'unpriced_calls'] as const;
/** A sum of bigints would be a numeric, which is no number here. */
const summed = SUMS.map((name) => `sum(${name})::${name === 'cost_usd' ? 'float8' : 'bigint'} AS ${name}`).join(', ');

const EXPRESSIONS: Readonly<Record<CostDimension, string>> = {
  day: 'day',
  metric: 'metric',
  tier: 'tier',
  model: 'model',
  session: 's',
};
/** How a group shows what it is of; a session by its own id. */
const SHOWN: Readonly<Record<CostDimension, string>> = {
  day: "to_char(r.day, 'YYYY-MM-DD') AS day",
  metric: 'r.metric',
  tier: 'r.tier',
  model: 'r.model',
  session: '(SELECT x.session FROM scoring.sessions x WHERE x.s = r.s) AS session_id',
};

const IN_PERIOD = `SELECT * FROM scoring.usage WHERE project = $1 AND day >= $2::date AND day < $3::date`;

/** The cost ledger, as scoring writes it: sums per project, day, metric, tier, model and session. Found by its primary key. */
export class CostLedger {
  constructor(private readonly db: Database) {}

  /** The costliest groups, and the sum of the others. */
  async groups(project: string, { since, until }: Period, by: readonly CostDimension[]): Promise<CostGroups> {
    const keys = by.map((name) => EXPRESSIONS[name]).join(', ');
    const rows = await this.db.query<CostGroup & { place: number; groups: number }>(
      `WITH ranked AS (
         SELECT ${keys}, ${summed}, row_number() OVER (ORDER BY sum(cost_usd) DESC, sum(calls) DESC, ${keys}) AS place
         FROM (${IN_PERIOD}) u GROUP BY ${keys})
       SELECT r.place, 1 AS groups, ${by.map((name) => SHOWN[name]).join(', ')}, ${SUMS.map((name) => `r.${name}`).join(', ')}
       FROM ranked r WHERE r.place <= ${MAX_COST_GROUPS}
       UNION ALL
       SELECT ${MAX_COST_GROUPS + 1}, count(*), ${by.map(() => 'NULL').join(', ')}, ${summed} FROM ranked WHERE place > ${MAX_COST_GROUPS} HAVING count(*) > 0
       ORDER BY place`,
      [project, since, until],
    );
    const shown = rows.filter(({ place }) => place <= MAX_COST_GROUPS);
    const [rest] = rows.slice(shown.length);
    return {
      groups: shown.map(({ place: _, groups: __, ...group }) => group),
      others: rest === undefined ? null : { groups: rest.groups, ...sumsOf(rest) },
    };
  }

  /** Per metric and tier, with the tokens. */
  ofMetrics(project: string, { since, until }: Period): Promise<(MetricSpending & CostSums)[]> {
    return this.db.query(`SELECT metric, tier, ${summed} FROM (${IN_PERIOD}) u GROUP BY metric, tier ORDER BY metric, tier`, [
      project,
      since,
      until,
    ]);
  }

  /** Turns accepted in the period: admitted, and skipped by reason. The index on the time of acceptance finds them. */
  async turns(project: string, { since, until }: Period): Promise<{ admitted: number; skipped: Record<string, number> }> {
    const rows = await this.db.query<{ skipped: string | null; turns: number }>(
      `SELECT skipped, count(*) AS turns FROM scoring.turns WHERE project = $1 AND accepted_us >= $2 AND accepted_us < $3 GROUP BY skipped ORDER BY skipped`,
      [project, Date.parse(since) * 1_000, Date.parse(until) * 1_000],
    );
    return {
      admitted: rows.find(({ skipped }) => skipped === null)?.turns ?? 0,
      skipped: Object.fromEntries(rows.flatMap(({ skipped, turns }) => (skipped === null ? [] : [[skipped, turns]]))),
    };
  }

  /** The budget as it stands, by the database's clock, which admission goes by too. `windowH`: hours of the window. */
  async budget(project: string, windowH: number): Promise<BudgetRow> {
    const rows = await this.db.query<BudgetRow>(
      `SELECT to_char(now() AT TIME ZONE 'utc', 'YYYY-MM-DD') AS day,
         coalesce((SELECT cost_usd FROM scoring.spend WHERE project = $1 AND day = (now() AT TIME ZONE 'utc')::date), 0) AS spent_usd,
         coalesce((SELECT sum(reserved_usd) FROM scoring.score_jobs WHERE project = $1 AND reserved_usd > 0 AND leased_until > now()), 0) AS reserved_usd,
         b.admitted, b.skipped, ${micros('b.window_from')} AS window_start, ${micros('b.ends')} AS window_end
       FROM (SELECT 1) one LEFT JOIN (
         SELECT admitted, skipped, window_from, window_from + make_interval(secs => $2::float8 * 3600) AS ends FROM scoring.budgets WHERE project = $1) b ON b.ends > now()`,
      [project, windowH],
    );
    const [row] = rows;
    if (row === undefined) throw new Error('a query for one row gave none');
    return row;
  }
}

function sumsOf(row: CostSums): CostSums {
  const { evals, calls, tokens_in, tokens_out, cost_usd, unpriced_calls } = row;
  return { evals, calls, tokens_in, tokens_out, cost_usd, unpriced_calls };
}
