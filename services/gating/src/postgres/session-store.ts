import { Injectable } from '@nestjs/common';
import type { Tier, TraceScored } from '#contracts';
import { untouched, type Evidence, type GateConfig, type Trajectory } from '#domain/gate';
import type { TurnDecision } from '#domain/report';
import type { Transaction } from '#persistence';
import type { KnownSession, SessionVerdict, StoredTurn } from '../judge-session.js';

export interface SessionBatch {
  readonly s: string;
  readonly project: string;
  readonly session: string;
  readonly answers: readonly TraceScored[];
  /** Trace context by turn. */
  readonly causes: ReadonlyMap<number, string | undefined>;
}

interface HeadRow {
  readonly s: string;
  readonly last_t: number;
  readonly state: Trajectory;
  /** The turn that waits for a tier it asked for; what comes after it is decided with it. */
  readonly blocked_t: number | null;
}

interface TurnRow {
  readonly s: string;
  readonly t: number;
  readonly accepted_us: number;
  readonly config: string;
  readonly evidence: Evidence;
  readonly signals: TraceScored['signals'];
  readonly partial: boolean;
  readonly skipped: string | null;
  readonly state: Trajectory;
  readonly requested: number;
  readonly rev: number;
  readonly digest: string;
  readonly folded: boolean;
}

interface Place {
  readonly before: Trajectory;
  readonly turns: readonly StoredTurn[];
  readonly horizon: number | null;
}

/** How many turns of a session can be folded again; what comes in before them is stored, not folded. */
export const REFOLD_TURNS = 500;

/** Sessions and their turns as gating keeps them. Every method works inside the caller's transaction. */
@Injectable()
export class SessionStore {
  private readonly configs = new Map<string, GateConfig>();

  /** Locks the sessions of a batch (created when missing) and reads what deciding them needs. `batch` is sorted by `s`. */
  async load(
    tx: Transaction,
    batch: readonly SessionBatch[],
  ): Promise<{ known: Map<string, KnownSession>; configs: ReadonlyMap<string, GateConfig> }> {
    const heads = await this.lockHeads(tx, batch);
    const late = batch.flatMap((one) => {
      const { last_t: last, blocked_t: blocked } = heads.get(one.s) ?? NEWCOMER;
      const first = Math.min(...one.answers.map(({ turn_index }) => turn_index));
      return first <= last || blocked !== null ? [{ ...one, first: Math.min(first, blocked ?? first), blocked }] : [];
    });
    const places = await loadPlaces(tx, late);
    const known = new Map(
      batch.map(({ s, session }) => {
        const head = heads.get(s) ?? NEWCOMER;
        const place = places.get(s) ?? { before: head.state, turns: [], horizon: null };
        return [s, { session, lastTurn: head.last_t, ...place }];
      }),
    );
    const ids = [
      ...batch.flatMap(({ answers }) => answers.map(({ config }) => config)),
      ...[...places.values()].flatMap(({ turns }) => turns.map(({ config }) => config)),
    ];
    return { known, configs: await this.loadConfigs(tx, [...new Set(ids)]) };
  }

  async save(tx: Transaction, batch: readonly (SessionBatch & { verdict: SessionVerdict })[]): Promise<void> {
    if (batch.length === 0) return;
    const turns = batch.flatMap(({ s, verdict }) => verdict.rows.map((row) => ({ ...factRow(s, row), decision: row.decision })));
    const decided = turns.flatMap(({ decision, ...facts }) =>
      decision === null ? [] : [{ ...facts, ...decisionRow(decision) }],
    );
    const undecided = turns.flatMap(({ decision, ...facts }) => (decision === null ? [facts] : []));
    if (decided.length > 0) await tx.query(UPSERT_DECIDED, [JSON.stringify(decided)]);
    if (undecided.length > 0) await tx.query(UPSERT_FACTS, [JSON.stringify(undecided)]);
    const heads = batch.map(({ s, verdict: { lastTurn, head, blocked } }) => ({
      ...{ s, last_t: lastTurn, state: head, alerting: head.standing.length > 0, blocked_t: blocked },
    }));
    await tx.query(
      `UPDATE gating.heads SET last_t = r.last_t, state = r.state, alerting = r.alerting, blocked_t = r.blocked_t
       FROM json_to_recordset($1::json) AS r(s uuid, last_t bigint, state jsonb, alerting boolean, blocked_t bigint) WHERE heads.s = r.s`,
      [JSON.stringify(heads)],
    );
  }

  private async lockHeads(tx: Transaction, batch: readonly SessionBatch[]): Promise<Map<string, HeadRow>> {
    const keys = batch.map(({ s }) => s);
    const locked = await tx.query<HeadRow>(LOCK_HEADS, [keys]);
    const heads = new Map(locked.map((row) => [row.s, row]));
    const missing = batch.filter(({ s }) => !heads.has(s)).map(({ s, project, session }) => ({ s, project, session }));
    if (missing.length === 0) return heads;
    await tx.query(
      `INSERT INTO gating.heads (s, project, session) SELECT s, project, session FROM json_to_recordset($1::json) AS r(s uuid, project text, session text)
       ORDER BY s ON CONFLICT DO NOTHING`,
      [JSON.stringify(missing)],
    );
    // Locked again from the start, so that every lock of this transaction is taken in one order.
    const all = await tx.query<HeadRow>(LOCK_HEADS, [keys]);
    return new Map(all.map((row) => [row.s, row]));
  }

  private async loadConfigs(tx: Transaction, ids: readonly string[]): Promise<ReadonlyMap<string, GateConfig>> {
    const unknown = ids.filter((id) => !this.configs.has(id));
    if (unknown.length > 0) {
      const rows = await tx.query<{ id: string; doc: GateConfig }>(
        'SELECT id, doc FROM scoring.configs WHERE id = ANY($1::text[])',
        [unknown],
      );
      for (const { id, doc } of rows) this.configs.set(id, doc);
    }
    return this.configs;
  }
}

const NEWCOMER = { last_t: -1, state: untouched, blocked_t: null };

const LOCK_HEADS = 'SELECT s, last_t, state, blocked_t FROM gating.heads WHERE s = ANY($1::uuid[]) ORDER BY s FOR UPDATE';

const TURN_COLUMNS =
  'e.t, e.accepted_us, e.config, e.evidence, e.signals, e.partial, e.skipped, e.state, e.requested, e.rev, e.digest, e.folded';

/**
 * For sessions whose batch reaches back, or that wait: the turns from the first one to be decided again (`first`) on, and the
 * state before it. Only so many turns can be decided again, except that a turn which waits keeps its place however many follow.
 */
async function loadPlaces(
  tx: Transaction,
  late: readonly (SessionBatch & { first: number; blocked: number | null })[],
): Promise<Map<string, Place>> {
  const places = new Map<string, Place>();
  if (late.length === 0) return places;
  const starts = await tx.query<{ s: string; horizon: number | null; from_t: number; before: Trajectory | null }>(
    `SELECT k.s, h.t AS horizon, greatest(k.first, h.t) AS from_t,
       (SELECT state FROM gating.turn_evals e WHERE e.s = k.s AND e.t < greatest(k.first, h.t) AND e.folded AND e.rev > 0 ORDER BY e.t DESC LIMIT 1) AS before
     FROM json_to_recordset($1::json) AS k(s uuid, first bigint, blocked bigint)
     LEFT JOIN LATERAL (SELECT least(t, coalesce(k.blocked, t)) AS t FROM gating.turn_evals WHERE s = k.s AND folded
       ORDER BY turn_evals.t DESC OFFSET ${REFOLD_TURNS - 1} LIMIT 1) h ON true`,
    [JSON.stringify(late.map(({ s, first, blocked }) => ({ s, first, blocked })))],
  );
  const own = JSON.stringify(late.flatMap(({ s, answers }) => answers.map(({ turn_index }) => ({ s, t: turn_index }))));
  const rows = await tx.query<TurnRow>(
    `SELECT e.s, ${TURN_COLUMNS} FROM json_to_recordset($1::json) AS k(s uuid, from_t bigint) JOIN gating.turn_evals e ON e.s = k.s AND e.t >= k.from_t
     UNION SELECT e.s, ${TURN_COLUMNS} FROM json_to_recordset($2::json) AS k(s uuid, t bigint) JOIN gating.turn_evals e ON e.s = k.s AND e.t = k.t`,
    [JSON.stringify(starts.map(({ s, from_t }) => ({ s, from_t }))), own],
  );
  for (const { s, before, horizon, from_t } of starts) {
    const turns = rows.filter((row) => row.s === s).map((row) => storedTurn(row, from_t));
    places.set(s, { before: before ?? untouched, turns: turns.sort((a, b) => a.t - b.t), horizon });
  }
  return places;
}

/** A turn before the first refoldable one keeps its facts and is not decided again. */
function storedTurn(row: TurnRow, from: number): StoredTurn {
  return {
    t: row.t,
    acceptedAt: row.accepted_us,
    config: row.config,
    evidence: row.evidence,
    signals: row.signals,
    partial: row.partial,
    skipped: row.skipped,
    folded: row.folded && row.t >= from,
    requested: tiersOf(row.requested),
    revision: row.rev,
    digest: row.digest,
    state: row.state,
  };
}

function factRow(s: string, row: StoredTurn): Record<string, unknown> {
  const { t, acceptedAt, config, evidence, signals, partial, skipped, requested, folded } = row;
  return { s, t, accepted_us: acceptedAt, config, evidence, signals, partial, skipped, requested: maskOf(requested), folded };
}

function decisionRow({ after, fired, standing, measured, revision, digest, report }: TurnDecision): Record<string, unknown> {
  // The report only where something is wrong: the mailbox reads it, and a healthy turn's row stays small.
  const kept = standing.length > 0 ? report : null;
  return { state: after, fired, standing, measured, rev: revision, digest, report: kept };
}

/** Tiers as bits: tier 2 is 4, tier 3 is 8. */
function maskOf(tiers: readonly Tier[]): number {
  return tiers.reduce<number>((mask, tier) => mask | (1 << tier), 0);
}

function tiersOf(mask: number): Tier[] {
  return ([0, 1, 2, 3] as const).filter((tier) => (mask & (1 << tier)) !== 0);
}

const FACT_COLUMNS = 's, t, accepted_us, config, evidence, signals, partial, skipped, requested, folded';
const FACT_TYPES =
  's uuid, t bigint, accepted_us bigint, config text, evidence jsonb, signals jsonb, partial boolean, skipped text, requested smallint, folded boolean';
const SET_FACTS =
  'evidence = excluded.evidence, signals = excluded.signals, partial = excluded.partial, skipped = excluded.skipped, requested = excluded.requested';

const UPSERT_DECIDED = `
INSERT INTO gating.turn_evals (${FACT_COLUMNS}, state, fired, standing, measured, rev, digest, report)
SELECT ${FACT_COLUMNS}, state, ARRAY(SELECT json_array_elements_text(fired)), ARRAY(SELECT json_array_elements_text(standing)), measured, rev, digest, report
FROM json_to_recordset($1::json) AS r(${FACT_TYPES}, state jsonb, fired json, standing json, measured boolean, rev int, digest text, report jsonb)
ORDER BY s, t
ON CONFLICT (s, t) DO UPDATE SET ${SET_FACTS}, state = excluded.state, fired = excluded.fired, standing = excluded.standing,
  measured = excluded.measured, rev = excluded.rev, digest = excluded.digest, report = excluded.report`;

/** Turns that cannot be decided (yet): their facts; what was decided before stays. */
const UPSERT_FACTS = `
INSERT INTO gating.turn_evals (${FACT_COLUMNS}, state, fired, standing, measured)
SELECT ${FACT_COLUMNS}, '{"tracks":{},"standing":[]}', '{}', '{}', false FROM json_to_recordset($1::json) AS r(${FACT_TYPES})
ORDER BY s, t
ON CONFLICT (s, t) DO UPDATE SET ${SET_FACTS}`;
