import { Injectable } from '@nestjs/common';
import { derivedId } from '#domain/ids';
import type { Delivery } from '#messaging';
import type { Transaction } from '#persistence';
import type { TurnPayload } from '../accepted-turn.js';
import { boundedReason } from '../bounded-score.js';
import { looksBack } from '../score-turn.js';
import { emitScored } from './emit-scored.js';
import { attachPosted } from './score-rows.js';
import { answerTurns, loadTurns, LOOK_BACK, lockLookingBack, lockSessions } from './turn-answers.js';
import {
  awaitsTraces,
  insertBodies,
  insertTurns,
  journalConflicts,
  keyOf,
  keysJson,
  saveConfigs,
  saveSessions,
  type ConfiguredTurn,
  type Key,
} from './turn-rows.js';

/** How many overdue turns are answered in one transaction. */
export const OVERDUE_ROWS = 64;

/** The facts of turns and the answers given about them (DATAFLOW, steps 2 and 4). Every method works inside the caller's transaction. */
@Injectable()
export class TurnStore {
  /** Bodies that the gateway stored instead of sending, by hash. A project finds its own only. */
  async referencedBodies(tx: Transaction, batch: readonly Delivery<TurnPayload>[]): Promise<Map<string, Buffer>> {
    const wanted = batch.flatMap(({ project, payload }) => ('body_ref' in payload ? [{ project, hash: payload.body_ref }] : []));
    if (wanted.length === 0) return new Map();
    const rows = await tx.query<{ project: string; hash: string; body: Buffer }>(
      `SELECT project, hash, body FROM edge.bodies JOIN (SELECT DISTINCT project, hash FROM json_to_recordset($1::json) AS r(project text, hash text)) k
       USING (project, hash)`,
      [JSON.stringify(wanted)],
    );
    return new Map(rows.map(({ project, hash, body }) => [bodyKey(project, hash), body]));
  }

  /** Stores new turns and answers their first tier; known ones change nothing. `turns` is sorted by key. */
  async accept(tx: Transaction, turns: readonly ConfiguredTurn[]): Promise<void> {
    const distinct = new Map<string, ConfiguredTurn>();
    for (const one of turns) if (!distinct.has(keyOf(one))) distinct.set(keyOf(one), one);
    const first = [...distinct.values()];
    await saveConfigs(tx, first);
    await saveSessions(tx, first);
    await lockSessions(
      tx,
      first.flatMap(({ s, config }) => (looksBack(config) ? [s] : [])),
    );
    const inserted = new Set((await insertTurns(tx, first)).map(keyOf));
    const fresh = first.filter((one) => inserted.has(keyOf(one)));
    await insertBodies(tx, fresh);
    await journalConflicts(tx, turns, inserted);
    const ready = fresh.filter((one) => !awaitsTraces(one.turn)).map((one) => ({ ...one, partial: false }));
    await attachPosted(tx, fresh);
    await answerTurns(tx, 1, ready);
    await this.answerFollowers(
      tx,
      fresh.filter(({ config }) => looksBack(config)),
    );
  }

  /** Answers a costlier tier that the gate asked for, once per turn and tier. */
  async answer(tx: Transaction, tier: 2 | 3, requests: readonly (Key & { traceparent?: string | undefined })[]): Promise<void> {
    if (requests.length === 0) return;
    await lockLookingBack(tx, requests);
    const claimed = await tx.query<Key>(
      `WITH asked AS (SELECT t.s, t.t FROM scoring.turns t JOIN json_to_recordset($1::json) AS k(s uuid, t bigint) USING (s, t)
         WHERE t.answered_${tier} = 0 ORDER BY t.s, t.t FOR UPDATE OF t)
       UPDATE scoring.turns SET answered_${tier} = 1 FROM asked WHERE turns.s = asked.s AND turns.t = asked.t RETURNING turns.s, turns.t`,
      [keysJson(requests)],
    );
    const causes = new Map(requests.map((one) => [keyOf(one), one.traceparent]));
    const turns = await loadTurns(tx, claimed);
    await answerTurns(
      tx,
      tier,
      turns.map((one) => ({ ...one, traceparent: causes.get(keyOf(one)) })),
    );
  }

  /** Turns that have waited for their traces as long as they may, the longest first; at most `OVERDUE_ROWS`. */
  overdue(tx: Transaction): Promise<Key[]> {
    return tx.query<Key>(
      `SELECT s, t FROM scoring.turns WHERE wait_until <= now() ORDER BY wait_until, s, t LIMIT ${OVERDUE_ROWS}`,
    );
  }

  /** Scores overdue turns on what is there, flagged partial. Returns how many: none of those that somebody else is at. */
  async answerOverdue(tx: Transaction, only?: readonly Key[]): Promise<number> {
    const due = only ?? (await this.overdue(tx));
    if (due.length === 0) return 0;
    await lockLookingBack(tx, due);
    const claimed = await tx.query<Key>(
      `WITH due AS (SELECT t.s, t.t FROM scoring.turns t JOIN json_to_recordset($1::json) AS k(s uuid, t bigint) USING (s, t)
         WHERE t.wait_until <= now() ORDER BY t.s, t.t FOR UPDATE OF t SKIP LOCKED)
       UPDATE scoring.turns SET wait_until = NULL, partial = true, answered_1 = 1 FROM due WHERE turns.s = due.s AND turns.t = due.t RETURNING turns.s, turns.t`,
      [keysJson(due)],
    );
    await answerTurns(tx, 1, await loadTurns(tx, claimed));
    return claimed.length;
  }

  /** Answers an overdue turn that cannot be scored without scores, and says so in the journal. Returns whether it was still waiting. */
  async giveUp(tx: Transaction, { s, t }: Key, reason: string): Promise<boolean> {
    const [row] = await tx.query<{ project: string; session: string; accepted_us: number; config: string }>(
      `UPDATE scoring.turns SET wait_until = NULL, partial = true, answered_1 = 1 FROM scoring.sessions x
       WHERE x.s = turns.s AND turns.s = $1 AND turns.t = $2 AND wait_until <= now()
       RETURNING turns.project, x.session, turns.accepted_us, turns.config`,
      [s, t],
    );
    if (row === undefined) return false;
    const { project, session, accepted_us: acceptedAt, config: configId } = row;
    emitScored(
      tx,
      { s, t, project, session, acceptedAt, configId, partial: true },
      { tier: 1, answer: 1, scores: [], signals: [] },
    );
    const doc = { tier: 1, reason: boundedReason(reason) };
    tx.journal({ id: derivedId('score_failed', s, t, 1), project, type: 'score_failed', s, session, t, doc });
    return true;
  }

  /** A turn that comes late changes what loop detection finds in the turns after it: they are answered again. */
  private async answerFollowers(tx: Transaction, late: readonly ConfiguredTurn[]): Promise<void> {
    if (late.length === 0) return;
    const followers = await tx.query<Key>(
      `SELECT DISTINCT f.s, f.t FROM json_to_recordset($1::json) AS k(s uuid, t bigint)
       CROSS JOIN LATERAL (SELECT s, t FROM scoring.turns WHERE s = k.s AND t > k.t ORDER BY t LIMIT ${LOOK_BACK}) f
       WHERE NOT EXISTS (SELECT 1 FROM json_to_recordset($1::json) AS own(s uuid, t bigint) WHERE own.s = f.s AND own.t = f.t)`,
      [keysJson(late)],
    );
    if (followers.length === 0) return;
    const turns = await loadTurns(tx, followers);
    for (const tier of [1, 2, 3] as const) {
      const answered = await tx.query<Key & { answer: number }>(
        `UPDATE scoring.turns SET answered_${tier} = answered_${tier} + 1 FROM json_to_recordset($1::json) AS k(s uuid, t bigint)
         WHERE turns.s = k.s AND turns.t = k.t AND answered_${tier} > 0 RETURNING turns.s, turns.t, answered_${tier} AS answer`,
        [keysJson(turns.filter(({ config }) => config.tiers[tier].includes('loop_detection')))],
      );
      const answers = new Map(answered.map((one) => [keyOf(one), one.answer]));
      await answerTurns(
        tx,
        tier,
        turns.filter((one) => answers.has(keyOf(one))),
        answers,
      );
    }
  }
}

/** Names a stored body: whose it is, and its hash. */
export function bodyKey(project: string, hash: string): string {
  return `${project}|${hash}`;
}
