import {
  beginTrial,
  decideTrial,
  evidenceOf,
  liveBets,
  observe,
  summarise,
  type Observation,
  type TrialSettings,
  type TrialState,
  type TrialVerdict,
} from '#domain/evidence';
import { replaySession } from '#domain/ids';
import type { PendingTrial, RuleReaderSession, RuleWatch, TrialPoint, TrialView } from '#contracts';
import { Conditions, type After } from './conditions.js';
import { micros, type Database } from './database.js';

interface TrialRow {
  readonly rule: string;
  readonly started_at: number;
  readonly decided_at: number | null;
  readonly settings: TrialSettings;
  readonly state: TrialState;
  readonly verdict: TrialVerdict | { readonly verdict: 'stopped'; readonly reason: string } | null;
  readonly age_days: number;
  readonly wins: string[] | null;
  readonly metrics: number | null;
  readonly entered: number;
  readonly open: number;
  readonly waiting: number;
}

/** Points of a course that are shown: more are not seen on any screen. */
const POINTS_MAX = 500;

/** Trials as operators see them; everything follows from what validation has stored. */
export class Trials {
  constructor(private readonly db: Database) {}

  /** Each with its beginning, by which the list goes on. */
  pending(project: string, after: After | null, limit: number): Promise<(PendingTrial & { readonly at: number })[]> {
    const where = new Conditions().add(project, (p) => `t.project = ${p}`).after(after, 't.started_at', 't.rule');
    return this.db.query(
      `SELECT t.rule AS rule_id, r.scope, ${micros('t.started_at')} AS at,
         (SELECT count(*)::int FROM validation.trial_sessions x WHERE x.rule = t.rule AND x.outcome IS NULL) AS open_sessions,
         EXISTS (SELECT 1 FROM validation.pairs p WHERE p.rule = t.rule AND p.state = 'running') AS pair_running
       FROM validation.trials t JOIN rules.rules r ON r.id = t.of WHERE t.kind = 'candidate' AND t.verdict IS NULL AND ${where.toString()} ORDER BY t.started_at DESC, t.rule LIMIT ${limit + 1}`,
      where.parameters,
    );
  }

  async watches(project: string, verdict: string | undefined, after: After | null, limit: number): Promise<RuleWatch[]> {
    const where = new Conditions()
      .add(project, (p) => `t.project = ${p}`)
      .add(verdict, (p) => `coalesce(t.verdict ->> 'verdict', 'watching') = ${p}`)
      .after(after, 't.started_at', 't.rule');
    const rows = await this.db.query<
      Omit<RuleWatch, 'allocation' | 'sessions' | 'evidence' | 'bound'> & Pick<TrialRow, 'state' | 'settings'>
    >(
      `SELECT t.rule AS id, t.of AS rule_id, r.scope, ${micros('t.started_at')} AS started_at, ${micros('t.decided_at')} AS decided_at,
         coalesce(t.verdict ->> 'verdict', 'watching') AS verdict, t.state, t.settings
       FROM validation.trials t JOIN rules.rules r ON r.id = t.of WHERE t.kind = 'ablation' AND ${where.toString()} ORDER BY t.started_at DESC, t.rule LIMIT ${limit + 1}`,
      where.parameters,
    );
    return rows.map(({ state, settings, ...row }) => ({
      ...row,
      ...{ allocation: state.allocation, sessions: state.sessions, bound: Math.log(1 / settings.trial_alpha) },
      evidence: evidenceOf(state, liveBets(state.allocation)).live,
    }));
  }

  /** Sessions that were shown a rule, each with its key, by which the list goes on. Replays are none of the fleet's. */
  readers(
    project: string,
    rule: string,
    after: After | null,
    limit: number,
  ): Promise<(RuleReaderSession & { readonly s: string })[]> {
    const where = new Conditions();
    const [id, own] = [where.parameter(rule), where.parameter(project)];
    where.require('true').after(after, 'x.first_read', 'x.s::text');
    return this.db.query(
      `SELECT x.s, x.session AS session_id, ${micros('x.first_read')} AS first_read_at, x.reads, o.outcome, coalesce(h.alerting, false) AS alerting
       FROM (SELECT s, min(session) AS session, min('epoch'::timestamptz + stored_us * interval '1 microsecond') AS first_read, count(*)::int AS reads FROM validation.exposures
         WHERE rule_ids @> ARRAY[${id}] AND project = ${own} AND session NOT LIKE '${replaySession('%')}' GROUP BY s) x
       LEFT JOIN gating.heads h ON h.s = x.s
       LEFT JOIN LATERAL (SELECT max(e.outcome) AS outcome FROM validation.trial_sessions e JOIN validation.trials t ON t.rule = e.rule WHERE t.of = ${id} AND e.s = x.s) o ON true
       WHERE ${where.toString()} ORDER BY x.first_read DESC, x.s::text LIMIT ${limit + 1}`,
      where.parameters,
    );
  }

  async read(project: string, rule: string): Promise<TrialView | undefined> {
    const [row] = await this.db.query<TrialRow>(
      `SELECT t.rule, ${micros('t.started_at')} AS started_at, ${micros('t.decided_at')} AS decided_at, t.settings, t.state, t.verdict,
         extract(epoch FROM coalesce(t.decided_at, now()) - t.started_at)::float8 / 86400 AS age_days, t.cases -> 'wins' AS wins, (t.cases ->> 'metrics')::int AS metrics,
         own.entered, own.open, own.entered - own.open - t.counted AS waiting
       FROM validation.trials t CROSS JOIN LATERAL (
         SELECT count(*) AS entered, count(*) FILTER (WHERE outcome IS NULL) AS open FROM validation.trial_sessions x WHERE x.rule = t.rule) own
       WHERE t.project = $1 AND t.rule = $2`,
      [project, rule],
    );
    return row === undefined ? undefined : this.view(row);
  }

  private async view(row: TrialRow): Promise<TrialView> {
    const { settings, state, verdict } = row;
    const context = { ageDays: row.age_days, chosenWins: row.wins ?? [], winMetrics: row.metrics ?? 0 };
    const now = verdict ?? decideTrial(state, liveBets(state.allocation), settings, context);
    const { evidence, effect, interval, sampleRatioMismatch } = summarise(state, settings);
    return {
      ...{ rule_id: row.rule, started_at: row.started_at, decided_at: row.decided_at, allocation: state.allocation },
      ...{
        verdict: now.verdict,
        reason: 'reason' in now ? now.reason : null,
        source: 'source' in now ? now.source : null,
      },
      ...{ evidence, effect, interval, sample_ratio_mismatch: sampleRatioMismatch },
      ...{ bound: Math.log(1 / settings.trial_alpha), bound_harm: Math.log(1 / settings.trial_alpha_harm) },
      ...{ sessions: state.sessions, entered: row.entered, open: row.open, waiting: row.waiting },
      pairs: {
        counted: state.pairs.pairs,
        inconclusive: await this.inconclusive(row.rule),
        tape_share: await this.tapeShare(row.rule),
      },
      sessions_needed: 'sessionsNeeded' in now ? now.sessionsNeeded : null,
      course: await this.course(row),
    };
  }

  private async inconclusive(rule: string): Promise<Record<string, number>> {
    const rows = await this.db.query<{ reason: string; n: number }>(
      "SELECT reason, count(*) AS n FROM validation.pairs WHERE rule = $1 AND state = 'inconclusive' GROUP BY reason ORDER BY reason",
      [rule],
    );
    return Object.fromEntries(rows.map(({ reason, n }) => [reason, n]));
  }

  private async tapeShare(rule: string): Promise<number | null> {
    const [row] = await this.db.query<{ share: number | null }>(
      `SELECT avg(v.tape_share)::float8 AS share FROM validation.replays v JOIN validation.pairs p USING (pair) WHERE p.rule = $1 AND p.state = 'counted'`,
      [rule],
    );
    return row?.share ?? null;
  }

  /** The evidence after each observation, thinned to what can be seen. */
  private async course({ rule, state: { allocation } }: TrialRow): Promise<TrialPoint[]> {
    const rows = await this.db.query<{ seq: number; at: number; doc: Observation }>(
      `SELECT seq, ${micros('at')} AS at, doc FROM validation.observations WHERE rule = $1 ORDER BY seq`,
      [rule],
    );
    const bets = liveBets(allocation);
    const step = Math.max(1, Math.ceil(rows.length / POINTS_MAX));
    let state = beginTrial(allocation);
    return rows.flatMap(({ seq, at, doc }, place) => {
      state = observe(state, doc);
      if (place % step !== 0 && place !== rows.length - 1) return [];
      return [{ seq, at, kind: doc.kind, ...evidenceOf(state, bets).total }];
    });
  }
}
