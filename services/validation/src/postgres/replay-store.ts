import type { Read } from '#rule-store';
import { Injectable } from '@nestjs/common';
import type { Score } from '#contracts';
import type { Transaction } from '#persistence';

export type ReplayArm = 'with' | 'without' | 'current';

export interface NewReplay {
  readonly replay: string;
  readonly project: string;
  readonly s: string;
  readonly session: string;
  readonly rule: string | null;
  readonly pair: string | null;
  readonly regression: string | null;
  readonly case_id: string;
  readonly arm: ReplayArm;
  readonly timeout_s: number;
  /** 0: waiting for the environment is part of `timeout_s`. */
  readonly env_wait_s: number;
}

/** A replay that has run and is to be scored. */
export interface RunReplay {
  readonly replay: string;
  readonly project: string;
  readonly s: string;
  readonly session: string;
  /** The last turn, as the worker said; null when it did not. */
  readonly t: number | null;
  /** The newest turn that is stored, and whether enough time has passed that no other is on its way. */
  readonly stored_t: number | null;
  readonly settled: boolean;
  readonly overdue: boolean;
}

export interface EndedReplay {
  readonly replay: string;
  readonly project: string;
  readonly pair: string | null;
  readonly regression: string | null;
}

export interface TierAnswer {
  readonly replay: string;
  readonly tier: number;
  readonly answer: number;
  readonly pending: boolean;
  readonly scores: readonly Score[];
}

/** Seconds in which a turn that a worker published before it finished is surely stored, where it did not say which is the last. */
const SETTLE_S = 2;
/** Seconds that the last turn, and then its scores, are waited for. */
const LOOK_S = 60;

@Injectable()
export class ReplayStore {
  /** Gives the deadlines, in microseconds since the epoch. */
  async insert(tx: Transaction, replay: NewReplay): Promise<{ deadline: number; env_deadline: number | null }> {
    const [row] = await tx.query<{ deadline: number; env_deadline: number | null }>(
      `INSERT INTO validation.replays (replay, project, s, session, rule, pair, regression, case_id, arm, timeout_s, start_by, deadline)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, CASE WHEN $11 > 0 THEN now() + make_interval(secs => $11) END, CASE WHEN $11 <= 0 THEN now() + make_interval(secs => $10) END)
       RETURNING (extract(epoch FROM coalesce(deadline, start_by + make_interval(secs => $10))) * 1000000)::bigint AS deadline, (extract(epoch FROM start_by) * 1000000)::bigint AS env_deadline`,
      [
        ...[
          replay.replay,
          replay.project,
          replay.s,
          replay.session,
          replay.rule,
          replay.pair,
          replay.regression,
          replay.case_id,
          replay.arm,
        ],
        ...[replay.timeout_s, replay.env_wait_s],
      ],
    );
    if (row === undefined) throw new Error(`the replay ${replay.replay} was not stored`);
    return row;
  }

  async start(tx: Transaction, rows: readonly { readonly project: string; readonly replay: string }[]): Promise<void> {
    await tx.query(
      `UPDATE validation.replays v SET state = 'started', started_at = now(), deadline = coalesce(v.deadline, now() + make_interval(secs => v.timeout_s))
       FROM json_to_recordset($1::json) AS k(project text, replay text) WHERE v.replay = k.replay AND v.project = k.project AND v.state = 'requested'`,
      [JSON.stringify(rows)],
    );
  }

  /** The first end that is told counts. Returns those that count. */
  finish(
    tx: Transaction,
    rows: readonly {
      readonly project: string;
      readonly replay: string;
      readonly session: string | null;
      readonly error: string | null;
      readonly tape_share: number | null;
      readonly t: number | null;
    }[],
  ): Promise<{ replay: string }[]> {
    return tx.query(
      `UPDATE validation.replays v SET finished_at = now(), error = k.error, tape_share = k.tape_share, t = k.t, look_at = now() + interval '${LOOK_S} seconds',
         state = CASE WHEN k.error IS NOT NULL OR k.session <> v.session THEN 'inconclusive' ELSE 'finished' END,
         reason = CASE WHEN k.error IS NOT NULL THEN 'worker_failed' WHEN k.session <> v.session THEN 'other_session' END,
         ended_at = CASE WHEN k.error IS NOT NULL OR k.session <> v.session THEN clock_timestamp() END
       FROM json_to_recordset($1::json) AS k(project text, replay text, session text, error text, tape_share float8, t bigint)
       WHERE v.replay = k.replay AND v.project = k.project AND v.state IN ('requested', 'started') RETURNING v.replay`,
      [JSON.stringify(rows)],
    );
  }

  /** Replays whose time is over. */
  async expire(tx: Transaction): Promise<EndedReplay[]> {
    return tx.query<EndedReplay>(
      `UPDATE validation.replays v SET state = 'inconclusive', ended_at = clock_timestamp(), reason = CASE WHEN v.state = 'requested' AND v.start_by IS NOT NULL THEN 'env_wait_timeout' ELSE 'timed_out' END
       WHERE v.replay IN (SELECT replay FROM validation.replays x WHERE (x.state IN ('requested', 'started') AND x.deadline < now()) OR (x.state = 'requested' AND x.start_by < now())
         ORDER BY replay LIMIT 100 FOR UPDATE SKIP LOCKED)
       RETURNING v.replay, v.project, v.pair, v.regression`,
    );
  }

  finished(read: Read): Promise<RunReplay[]> {
    return read<RunReplay>(
      `SELECT v.replay, v.project, v.s, v.session, v.t, (SELECT max(t.t) FROM scoring.turns t WHERE t.s = v.s AND (v.t IS NULL OR t.t = v.t)) AS stored_t,
         v.finished_at + interval '${SETTLE_S} seconds' < now() AS settled, v.look_at < now() AS overdue
       FROM validation.replays v WHERE v.state = 'finished' ORDER BY v.replay LIMIT 100`,
      [],
    );
  }

  /** Whether this call was the one that took it on. */
  async beginScoring(tx: Transaction, replay: string, t: number): Promise<boolean> {
    const rows = await tx.query(
      `UPDATE validation.replays SET state = 'scoring', t = $2, look_at = now() + interval '${LOOK_S} seconds' WHERE replay = $1 AND state = 'finished' RETURNING 1`,
      [replay, t],
    );
    return rows.length > 0;
  }

  async giveUp(tx: Transaction, replay: string, reason: string): Promise<void> {
    await tx.query(
      "UPDATE validation.replays SET state = 'inconclusive', reason = $2, ended_at = clock_timestamp() WHERE replay = $1 AND state IN ('finished', 'scoring')",
      [replay, reason],
    );
  }

  async keepAnswers(tx: Transaction, answers: readonly TierAnswer[]): Promise<void> {
    await tx.query(
      `INSERT INTO validation.replay_scores AS x (replay, tier, answer, pending, scores)
       SELECT DISTINCT ON (replay, tier) replay, tier, answer, pending, scores FROM json_to_recordset($1::json) AS r(replay text, tier smallint, answer int, pending boolean, scores jsonb)
       ORDER BY replay, tier, answer DESC
       ON CONFLICT (replay, tier) DO UPDATE SET answer = excluded.answer, pending = excluded.pending, scores = excluded.scores WHERE x.answer < excluded.answer`,
      [JSON.stringify(answers)],
    );
  }

  /** Replays of which every tier is answered, or has been waited for long enough. */
  measured(read: Read): Promise<{ replay: string; answers: { scores: Score[] }[] }[]> {
    return read(
      `SELECT v.replay, (SELECT coalesce(jsonb_agg(jsonb_build_object('scores', x.scores) ORDER BY x.tier), '[]') FROM validation.replay_scores x WHERE x.replay = v.replay) AS answers
       FROM validation.replays v WHERE v.state = 'scoring'
         AND (v.look_at < now() OR (SELECT count(*) FROM validation.replay_scores x WHERE x.replay = v.replay AND NOT x.pending) = 3) ORDER BY v.replay LIMIT 100`,
      [],
    );
  }

  async saveScores(tx: Transaction, replay: string, scores: Readonly<Record<string, number>>): Promise<void> {
    const none = Object.keys(scores).length === 0;
    await tx.query(
      "UPDATE validation.replays SET state = $2, scores = $3, reason = $4, ended_at = clock_timestamp() WHERE replay = $1 AND state = 'scoring'",
      [replay, none ? 'inconclusive' : 'scored', JSON.stringify(scores), none ? 'nothing_measured' : null],
    );
  }
}
