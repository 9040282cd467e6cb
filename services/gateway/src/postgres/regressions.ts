import { randomBytes } from 'node:crypto';
import type { ProjectSettings, RegressionCase, RegressionReport, RegressionRun } from '#contracts';
import type { UnitOfWork } from '#persistence';
import { Conditions, type After } from './conditions.js';
import { micros, type Database } from './database.js';

export interface StartedBy {
  readonly project: string;
  readonly who: string;
  readonly k: number;
  readonly sample: number | undefined;
}

/** Regression runs: asked for here, worked through by validation. */
export class Regressions {
  constructor(
    private readonly db: Database,
    private readonly work: UnitOfWork,
  ) {}

  /** Null when the eval set has nothing to replay. Cases without a replay input are listed as skipped, beside others that can run. */
  async start(
    { project, who, k, sample }: StartedBy,
    margins: Pick<ProjectSettings, 'rule_promote_margin' | 'rule_regress_margin'>,
  ): Promise<string | null> {
    const run = `g-${randomBytes(6).toString('hex')}`;
    const { rule_promote_margin, rule_regress_margin } = margins;
    return this.work.run(async (tx) => {
      const cases = await tx.query<{ id: string; kind: string; replayable: boolean }>(
        `SELECT id, kind, replay_input IS NOT NULL AS replayable FROM evalset.cases WHERE project = $1 ORDER BY (kind = 'win') DESC, created_at DESC, id LIMIT $2`,
        [project, sample ?? null],
      );
      if (!cases.some(({ replayable }) => replayable)) return null;
      await tx.query(
        `INSERT INTO validation.regressions (run, project, requested_by, k, set_version, rules_version, margins)
         VALUES ($1, $2, $3, $4, coalesce((SELECT version FROM evalset.versions WHERE project = $2), 0), coalesce((SELECT version FROM rules.versions WHERE project = $2), 0), $5)`,
        [run, project, who, k, JSON.stringify({ rule_promote_margin, rule_regress_margin })],
      );
      const rows = cases.flatMap(({ id, kind, replayable }, place) =>
        Array.from({ length: k }, (_, at) => ({ place, repetition: at + 1, case_id: id, kind, skipped: !replayable })),
      );
      await tx.query(
        `INSERT INTO validation.regression_cases (run, place, repetition, case_id, kind, status, reason, deltas)
         SELECT $1, place, repetition, case_id, kind, CASE WHEN skipped THEN 'skipped' END, CASE WHEN skipped THEN 'no_replay_input' END, CASE WHEN skipped THEN '{}'::jsonb END
         FROM json_to_recordset($2::json) AS r(place int, repetition int, case_id text, kind text, skipped boolean)`,
        [run, JSON.stringify(rows)],
      );
      tx.journal({ id: `${run}-started`, project, type: 'regression_started', doc: { run, k, cases: cases.length, by: who } });
      return run;
    });
  }

  list(project: string, after: After | null, limit: number): Promise<RegressionRun[]> {
    const where = new Conditions().add(project, (p) => `r.project = ${p}`).after(after, 'r.created_at', 'r.run');
    return this.db.query<RegressionRun>(
      `SELECT ${RUN_COLUMNS} WHERE ${where.toString()} ORDER BY r.created_at DESC, r.run LIMIT ${limit + 1}`,
      where.parameters,
    );
  }

  async read(project: string, id: string): Promise<RegressionReport | undefined> {
    const [run] = await this.db.query<RegressionRun>(`SELECT ${RUN_COLUMNS} WHERE r.project = $1 AND r.run = $2`, [project, id]);
    if (run === undefined) return undefined;
    const cases = await this.db.query<RegressionCase>(
      `SELECT case_id, kind, repetition, status, reason, coalesce(deltas, '{}') AS deltas FROM validation.regression_cases WHERE run = $1 ORDER BY place, repetition`,
      [id],
    );
    return { ...run, cases };
  }
}

const RUN_COLUMNS = `r.run AS id, r.state, r.requested_by, r.k, r.set_version, r.rules_version, ${micros('r.created_at')} AS created_at, ${micros('r.ended_at')} AS ended_at,
  own.runs, own.done, own.counts, passed.share AS pass_at_k
  FROM validation.regressions r
  CROSS JOIN LATERAL (SELECT coalesce(sum(n), 0)::int AS runs, coalesce(sum(n) FILTER (WHERE status IS NOT NULL), 0)::int AS done, coalesce(jsonb_object_agg(status, n) FILTER (WHERE status IS NOT NULL), '{}') AS counts
    FROM (SELECT status, count(*)::int AS n FROM validation.regression_cases c WHERE c.run = r.run GROUP BY status) s) own
  CROSS JOIN LATERAL (SELECT avg(ok::int)::float8 AS share FROM (SELECT bool_and(status <> 'regressed') AS ok FROM validation.regression_cases c WHERE c.run = r.run
    GROUP BY case_id HAVING count(*) FILTER (WHERE status IS NOT NULL AND status <> 'skipped') = r.k) x) passed`;
