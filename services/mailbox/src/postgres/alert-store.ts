import { Injectable } from '@nestjs/common';
import type { Report } from '#contracts';
import type { AlertMemory, AlertStep } from '#domain/notices';
import { UnitOfWork, type Transaction } from '#persistence';

/** A session that a batch of reports touched. */
export interface TouchedSession {
  readonly s: string;
  readonly project: string;
  readonly session: string;
  /** The first turn of the batch. */
  readonly firstT: number;
  /** None of its reports has a problem. */
  readonly healthy: boolean;
  /** Trace context by turn. */
  readonly causes: ReadonlyMap<number, string | undefined>;
}

export interface ReportRow {
  readonly s: string;
  readonly t: number;
  readonly rev: number;
  readonly standing: readonly string[];
  readonly measured: boolean;
  readonly report: Report | null;
  readonly cooldown: number;
  /** How far behind the newest turn a correction is still published. */
  readonly revise_window: number;
}

/** A locked session: what is on record from `from` on, and the memory before it. */
export interface AlertSession extends TouchedSession {
  readonly from: number;
  readonly before: AlertMemory | null;
  readonly counted: boolean;
  readonly reports: readonly ReportRow[];
  readonly steps: readonly AlertStep[];
}

interface AlertRow {
  readonly s: string;
  readonly folded_t: number;
  readonly memory: AlertMemory | null;
  readonly counted: boolean;
}

/** How the alerts of sessions are kept: the fold's memory, and one row per turn that did something. */
@Injectable()
export class AlertStore {
  constructor(private readonly work: UnitOfWork) {}

  /** Leaves out sessions that are healthy and have nothing to recover from or to correct. */
  async needing(sessions: readonly TouchedSession[]): Promise<TouchedSession[]> {
    const healthy = sessions.filter((one) => one.healthy).map(({ s }) => s);
    if (healthy.length === 0) return [...sessions];
    const rows = await this.work.read<AlertRow>(
      'SELECT s, folded_t, memory, counted FROM mailbox.session_alerts WHERE s = ANY($1::uuid[])',
      [healthy],
    );
    const known = new Map(rows.map((row) => [row.s, row]));
    return sessions.filter((one) => {
      const row = known.get(one.s);
      return !one.healthy || (row !== undefined && (row.memory !== null || one.firstT <= row.folded_t));
    });
  }

  /** Highest revisions from a turn on, outside any transaction: whether something changed while a batch was decided. */
  async revisions(sessions: readonly { s: string; from: number }[]): Promise<Map<string, string>> {
    const rows = await this.work.read<{ s: string; seen: string }>(
      `SELECT e.s, string_agg(e.t || ':' || e.rev, ',' ORDER BY e.t) AS seen FROM json_to_recordset($1::json) AS k(s uuid, "from" bigint)
       ${PUBLISHED_REPORTS} GROUP BY e.s`,
      [JSON.stringify(sessions.map(({ s, from }) => ({ s, from })))],
    );
    return new Map(rows.map(({ s, seen }) => [s, seen]));
  }

  /** Locks sessions (created when missing) and reads their reports from the first turn that must be folded again. Sorted by `s`. */
  async load(tx: Transaction, sessions: readonly TouchedSession[]): Promise<AlertSession[]> {
    const keys = sessions.map(({ s }) => s);
    await tx.query(
      `INSERT INTO mailbox.session_alerts (s, project, session) SELECT s, project, session FROM json_to_recordset($1::json) AS r(s uuid, project text, session text)
       ORDER BY s ON CONFLICT DO NOTHING`,
      [JSON.stringify(sessions.map(({ s, project, session }) => ({ s, project, session })))],
    );
    const rows = await tx.query<AlertRow>(
      'SELECT s, folded_t, memory, counted FROM mailbox.session_alerts WHERE s = ANY($1::uuid[]) ORDER BY s FOR UPDATE',
      [keys],
    );
    const alerts = new Map(rows.map((row) => [row.s, row]));
    const starts = await this.starts(tx, sessions, alerts);
    const json = JSON.stringify([...starts].map(([s, { from }]) => ({ s, from })));
    const reports = await tx.query<ReportRow>(
      `SELECT e.s, e.t, e.rev, e.standing, e.measured, e.report, (c.doc->>'alert_cooldown_turns')::int AS cooldown,
         (c.doc->>'revise_window_turns')::int AS revise_window
       FROM json_to_recordset($1::json) AS k(s uuid, "from" bigint) ${PUBLISHED_REPORTS}
       JOIN scoring.configs c ON c.id = e.config ORDER BY e.s, e.t`,
      [json],
    );
    const steps = await tx.query<AlertStep & { s: string }>(
      `SELECT a.s, a.t, a.memory, a.posted, a.recovered, a.signatures FROM json_to_recordset($1::json) AS k(s uuid, "from" bigint)
       JOIN mailbox.alert_turns a ON a.s = k.s AND a.t >= k."from" ORDER BY a.s, a.t`,
      [json],
    );
    return sessions.map((one) => ({
      ...one,
      ...(starts.get(one.s) ?? { from: one.firstT, before: null }),
      counted: alerts.get(one.s)?.counted ?? false,
      reports: reports.filter(({ s }) => s === one.s),
      steps: steps.filter(({ s }) => s === one.s),
    }));
  }

  async save(
    tx: Transaction,
    sessions: readonly (AlertSession & { next: readonly AlertStep[]; memory: AlertMemory | null; countedNow: boolean })[],
  ): Promise<void> {
    const gone = sessions.flatMap(({ s, steps, next }) =>
      steps.filter(({ t }) => !next.some((one) => one.t === t)).map(({ t }) => ({ s, t })),
    );
    if (gone.length > 0) {
      await tx.query(
        'DELETE FROM mailbox.alert_turns a USING json_to_recordset($1::json) AS k(s uuid, t bigint) WHERE a.s = k.s AND a.t = k.t',
        [JSON.stringify(gone)],
      );
    }
    const changed = sessions.flatMap(({ s, steps, next }) =>
      next.filter((step) => !steps.some((old) => sameStep(old, step))).map((step) => ({ s, ...step })),
    );
    if (changed.length > 0) await tx.query(UPSERT_STEPS, [JSON.stringify(changed)]);
    const rows = sessions.map(({ s, from, reports, memory, countedNow }) => ({
      s,
      folded_t: reports.at(-1)?.t ?? from - 1,
      memory,
      counted: countedNow,
    }));
    await tx.query(
      `UPDATE mailbox.session_alerts a SET folded_t = greatest(a.folded_t, r.folded_t), memory = r.memory, counted = r.counted
       FROM json_to_recordset($1::json) AS r(s uuid, folded_t bigint, memory jsonb, counted boolean) WHERE a.s = r.s`,
      [JSON.stringify(rows)],
    );
  }

  /**
   * Where each session's fold begins. Nothing older changed: after the last folded turn, or, when the session was quiet, at the
   * first problem since. Something older changed: there, with the memory of the step before it.
   */
  private async starts(
    tx: Transaction,
    sessions: readonly TouchedSession[],
    alerts: ReadonlyMap<string, AlertRow>,
  ): Promise<Map<string, { from: number; before: AlertMemory | null }>> {
    const questions = sessions.map(({ s, firstT }) => ({ s, first_t: firstT, folded_t: alerts.get(s)?.folded_t ?? -1 }));
    const rows = await tx.query<{ s: string; problem: number | null; before: AlertMemory | null }>(
      `SELECT k.s, (SELECT e.t FROM gating.turn_evals e WHERE e.s = k.s AND e.t > k.folded_t AND e.standing <> '{}' AND e.rev > 0 ORDER BY e.t LIMIT 1) AS problem,
         (SELECT a.memory FROM mailbox.alert_turns a WHERE a.s = k.s AND a.t < k.first_t ORDER BY a.t DESC LIMIT 1) AS before
       FROM json_to_recordset($1::json) AS k(s uuid, first_t bigint, folded_t bigint)`,
      [JSON.stringify(questions)],
    );
    const answers = new Map(rows.map((row) => [row.s, row]));
    return new Map(
      sessions.map(({ s, firstT }) => {
        const alert = alerts.get(s);
        const folded = alert?.folded_t ?? -1;
        if (firstT <= folded) return [s, { from: firstT, before: answers.get(s)?.before ?? null }];
        if (alert?.memory != null) return [s, { from: folded + 1, before: alert.memory }];
        return [s, { from: Math.min(firstT, answers.get(s)?.problem ?? firstT), before: null }];
      }),
    );
  }
}

export function sameStep(a: AlertStep, b: AlertStep): boolean {
  return (
    a.t === b.t &&
    a.posted === b.posted &&
    a.recovered === b.recovered &&
    a.signatures.join() === b.signatures.join() &&
    a.memory?.signatures.join() === b.memory?.signatures.join() &&
    a.memory?.cooldownLeft === b.memory?.cooldownLeft
  );
}

/** Reports of `k` from its turn on. Gating publishes them in turn order: what is there is decided as far as it is known. */
const PUBLISHED_REPORTS = 'JOIN gating.turn_evals e ON e.s = k.s AND e.t >= k."from" AND e.rev > 0';

const UPSERT_STEPS = `INSERT INTO mailbox.alert_turns (s, t, memory, posted, recovered, signatures)
  SELECT s, t, memory, posted, recovered, ARRAY(SELECT json_array_elements_text(signatures))
  FROM json_to_recordset($1::json) AS r(s uuid, t bigint, memory jsonb, posted boolean, recovered boolean, signatures json) ORDER BY s, t
  ON CONFLICT (s, t) DO UPDATE SET memory = excluded.memory, posted = excluded.posted, recovered = excluded.recovered, signatures = excluded.signatures`;
