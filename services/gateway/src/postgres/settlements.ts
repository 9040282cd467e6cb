import type { RepairResult, Report, TraceSignal } from '#contracts';
import type { Evidence, GateConfig, Trajectory } from '#domain/gate';
import type { EndedRun, SettleState } from '#domain/settlement';
import type { Database } from './database.js';

/** A turn that somebody waits for. `t` is null until the session's newest turn is known. */
export interface AskedTurn {
  readonly s: string;
  readonly t: number | null;
  /** Milliseconds since it was asked for: a run that ended before is not the one that is waited for. */
  readonly waited_ms: number;
}

/** `t`: the turn that is meant; null while it is not stored. */
export type SeenState = SettleState & { readonly t: number | null };

/** What a report is made of where none is kept: of a turn without a problem. */
export interface ReportFacts {
  readonly session: string;
  readonly accepted_us: number;
  readonly evidence: Evidence;
  readonly signals: readonly TraceSignal[];
  readonly partial: boolean;
  readonly skipped: string | null;
  readonly rev: number;
  readonly config: GateConfig;
  /** The session after the turn before it. */
  readonly before: Trajectory | null;
}

export interface SettledTurn {
  readonly report: Report | null;
  /** Null for a turn that is not decided. */
  readonly facts: ReportFacts | null;
  readonly run: EndedRun | null;
}

/** Asks the tables for everybody who waits at once: one statement, whatever their number. */
export class Settlements {
  constructor(private readonly db: Database) {}

  /** One answer per question, in the order of the questions. */
  look(asked: readonly AskedTurn[]): Promise<SeenState[]> {
    return this.db.query<SeenState>(LOOK, [numbered(asked)]);
  }

  /** The reports and repair results of turns that are settled, or whose time is over. */
  read(asked: readonly (AskedTurn & { readonly t: number })[]): Promise<SettledTurn[]> {
    return this.db.query<SettledTurn & { readonly run: { readonly run: RepairResult } | null }>(READ, [numbered(asked)]);
  }
}

function numbered(asked: readonly AskedTurn[]): string {
  return JSON.stringify(asked.map((one, n) => ({ n, ...one })));
}

const ASKED = 'json_to_recordset($1::json) AS k(n int, s uuid, t bigint, waited_ms float8)';
const SINCE = "now() - k.waited_ms * interval '1 millisecond'";
const NEWEST = '9223372036854775807';

/** More would say nothing new: the oldest that holds decides. */
const EPISODES = 20;

/**
 * The notices of a turn are decided when the mailbox has folded what its report says now, and every problem before it. A healthy turn of
 * a session that is quiet is not folded at all.
 */
const NOTICED = `
  CASE WHEN e.measured AND e.standing <> '{}' THEN coalesce(d.memory -> 'signatures' = to_jsonb(e.standing), false)
    ELSE d.memory IS NULL AND (a.memory IS NULL OR a.folded_t >= turn.t) END
  AND NOT EXISTS (SELECT 1 FROM gating.turn_evals p WHERE p.s = k.s AND p.t > coalesce(a.folded_t, -1) AND p.t < turn.t
    AND p.standing <> '{}' AND p.measured AND p.rev > 0)`;

const LOOK = `
  SELECT turn.t, turn.t IS NOT NULL AS known, coalesce(turn.skipped, e.skipped, CASE WHEN NOT e.folded THEN 'too_late' END) AS skipped,
    coalesce(e.rev > 0, false) AND NOT coalesce(h.blocked_t <= turn.t, false) AS reported, ${NOTICED} AS noticed,
    EXISTS (SELECT 1 FROM mailbox.episodes x JOIN mailbox.incidents i ON i.id = x.incident_id WHERE x.s = k.s AND x.t <= turn.t
      AND (x.settled_at >= ${SINCE} OR EXISTS (SELECT 1 FROM repair.runs r WHERE r.episode IN (x.id, i.opened_by) AND r.ended_at >= ${SINCE}))) AS run_ended,
    coalesce((SELECT json_agg(json_build_object('age_s', extract(epoch FROM now() - live.opened_at), 'work', live.work) ORDER BY live.opened_at, live.id) FROM (
      SELECT x.id, x.opened_at, (
        SELECT json_build_object('state', w.state, 'waits_for', w.waits_for, 'due_in_s', extract(epoch FROM w.run_after - now()))
        FROM repair.work w WHERE w.episode IN (x.id, i.opened_by) AND w.state <> 'done' ORDER BY w.episode = x.id DESC LIMIT 1) AS work
      FROM mailbox.episodes x JOIN mailbox.incidents i ON i.id = x.incident_id
      WHERE x.s = k.s AND x.t <= turn.t AND x.status IN ('open', 'claimed') ORDER BY x.opened_at, x.id LIMIT ${EPISODES}) live), '[]') AS episodes
  FROM ${ASKED}
  LEFT JOIN LATERAL (SELECT n.t, n.skipped FROM scoring.turns n WHERE n.s = k.s AND n.t >= coalesce(k.t, 0) AND n.t <= coalesce(k.t, ${NEWEST})
    ORDER BY n.t DESC LIMIT 1) turn ON true
  LEFT JOIN gating.turn_evals e ON e.s = k.s AND e.t = turn.t
  LEFT JOIN gating.heads h ON h.s = k.s
  LEFT JOIN mailbox.session_alerts a ON a.s = k.s
  LEFT JOIN mailbox.alert_turns d ON d.s = k.s AND d.t = turn.t
  ORDER BY k.n`;

/** The run that ended since it was asked for, or that had settled the turn before; the turn's own first, then the newest. */
const RUN = `
  SELECT json_build_object('episode_id', x.id, 'incident_id', x.incident_id, 'session_id', x.session, 'turn_index', x.t, 'notice_ids', x.notice_ids,
    'outcome', x.outcome, 'run', run.result)
  FROM mailbox.episodes x JOIN mailbox.incidents i ON i.id = x.incident_id
  CROSS JOIN LATERAL (SELECT r.result, r.ended_at FROM repair.runs r
    WHERE r.episode IN (x.id, coalesce(x.outcome ->> 'decided_by', i.opened_by)) AND r.ended_at IS NOT NULL ORDER BY r.ended_at DESC LIMIT 1) run
  WHERE x.s = k.s AND x.t <= k.t AND x.status <> 'void'
    AND (run.ended_at >= ${SINCE} OR x.settled_at >= ${SINCE} OR (x.t = k.t AND x.settled_at IS NOT NULL))
  ORDER BY x.t = k.t DESC, run.ended_at DESC LIMIT 1`;

const READ = `
  SELECT e.report, CASE WHEN e.rev > 0 THEN json_build_object('session', h.session, 'accepted_us', e.accepted_us, 'evidence', e.evidence, 'signals', e.signals,
      'partial', e.partial, 'skipped', e.skipped, 'rev', e.rev, 'config', c.doc,
      'before', (SELECT p.state FROM gating.turn_evals p WHERE p.s = k.s AND p.t < k.t AND p.folded AND p.rev > 0 ORDER BY p.t DESC LIMIT 1)) END AS facts,
    (${RUN}) AS run
  FROM ${ASKED}
  LEFT JOIN gating.turn_evals e ON e.s = k.s AND e.t = k.t
  LEFT JOIN gating.heads h ON h.s = k.s
  LEFT JOIN scoring.configs c ON c.id = e.config
  ORDER BY k.n`;
