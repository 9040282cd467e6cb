import { Injectable } from '@nestjs/common';
import { derivedId } from '#domain/ids';
import type { Delivery } from '#messaging';
import type { Transaction } from '#persistence';
import { byKey } from '../accepted-turn.js';
import { boundedReason } from '../bounded-score.js';
import { looksBack, scoreTier } from '../score-tier.js';
import { awaitsTraces } from '../named-in-turn.js';
import { outcomeInTurn } from '../sent-scores.js';
import { scoreAdded } from './add-traces.js';
import { admitTurns, pacedSessions } from './admission.js';
import { emitScored } from './emit-scored.js';
import { laterTraces } from './later-bodies.js';
import { endTraceWait, inReads, lockNamed, nameTraces, turnsNaming, whollyNamed, withNamedTraces } from './named-traces.js';
import type { TraceKey } from './otel-spans.js';
import { insertJobs, VERIFIER, type NewJob } from './job-rows.js';
import { earlierAnswers, LOOK_BACK, openTier, type Answerable } from './open-tier.js';
import { lockTurns, saveScores } from './score-rows.js';
import { ScoreStore, type PostedScore } from './score-store.js';
import { attachToNew, SENT_BY_HOST, sentByTurn, sentRows } from './sent-rows.js';
import { settleTiers } from './settle-tiers.js';
import { loadTurns, lockLookingBack, lockSessions } from './stored-turns.js';
import {
  insertBodies,
  insertTurns,
  journalConflicts,
  keyOf,
  keysJson,
  markSessions,
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
  constructor(private readonly scores: ScoreStore) {}

  /** Bodies that the gateway stored instead of sending, by hash. A project finds its own only. */
  async referencedBodies(
    tx: Transaction,
    batch: readonly Pick<Delivery<object>, 'project' | 'payload'>[],
  ): Promise<Map<string, Buffer>> {
    const wanted = batch.flatMap(({ project, payload }) =>
      'body_ref' in payload ? [{ project, hash: payload.body_ref as string }] : [],
    );
    if (wanted.length === 0) return new Map();
    const rows = await tx.query<{ project: string; hash: string; body: Buffer }>(
      `SELECT project, hash, body FROM edge.bodies JOIN (SELECT DISTINCT project, hash FROM json_to_recordset($1::json) AS r(project text, hash text)) k
       USING (project, hash)`,
      [JSON.stringify(wanted)],
    );
    return new Map(rows.map(({ project, hash, body }) => [bodyKey(project, hash), body]));
  }

  /**
   * Stores new turns and answers their first tier; known ones change nothing. `turns` is sorted by key, and all are sent, or all made of
   * traces. Returns whether jobs were made.
   */
  async accept(tx: Transaction, turns: readonly ConfiguredTurn[]): Promise<boolean> {
    const distinct = new Map<string, ConfiguredTurn>();
    for (const one of turns) if (!distinct.has(keyOf(one))) distinct.set(keyOf(one), one);
    const first = [...distinct.values()];
    await saveConfigs(tx, first);
    const making = first.some(({ ofTrace }) => ofTrace !== undefined) ? 'root_turns' : 'sent_turns';
    const unmarked = await saveSessions(tx, first, making);
    const looking = first.flatMap(({ s, config }) => (looksBack(config) ? [s] : []));
    await lockSessions(tx, [...new Set([...unmarked, ...looking, ...pacedSessions(first)])].sort());
    await markSessions(tx, first, unmarked, making);
    const inserted = new Set((await insertTurns(tx, first)).map(keyOf));
    const fresh = first.filter((one) => inserted.has(keyOf(one)));
    await insertBodies(tx, fresh);
    const later = await journalConflicts(tx, turns, inserted);
    // Sessions, turns, budgets, traces, jobs: whoever locks several kinds does it in this order.
    const followers = await this.followersOf(tx, fresh);
    if (later.length + followers.length > 0) await lockTurns(tx, [...later, ...followers]);
    const admitted = await admitTurns(tx, fresh);
    await this.scores.keep(tx, admitted.flatMap(hostOutcomes));
    const sent = await sentRows(tx, fresh);
    const waiting = admitted.filter((one) => awaitsTraces(one.turn));
    await lockNamed(tx, later, [...waiting, ...later]);
    const whole = await nameTraces(tx, waiting);
    const ready = admitted
      .filter((one) => !waiting.includes(one))
      .map((one) => ({ ...one, partial: one.ofTrace?.partial ?? false }));
    const asked = await openTier(tx, 1, ready, sentByTurn(ready, sent));
    await attachToNew(tx, sent);
    const verified = await insertJobs(
      tx,
      admitted.filter(({ verify }) => verify).map(({ s, t, project, config }) => verifierJob({ s, t, project, config })),
    );
    const affected = admitted.length === fresh.length ? followers : await this.followersOf(tx, admitted);
    await this.lookAgain(tx, await loadTurns(tx, affected));
    await endTraceWait(tx, whole);
    await this.answerOverdue(tx, whole);
    await this.addLater(tx, later);
    return asked || verified || whole.length > 0 || later.length > 0;
  }

  /** Stores turns of replays. Nothing is scored until validation asks, and no budget or sampling skips them. */
  async acceptReplays(tx: Transaction, turns: readonly ConfiguredTurn[]): Promise<void> {
    const first = [...new Map([...turns].reverse().map((one) => [keyOf(one), one])).values()].sort(byKey);
    await saveConfigs(tx, first);
    await saveSessions(tx, first, 'sent_turns');
    const inserted = new Set((await insertTurns(tx, first, false)).map(keyOf));
    await insertBodies(
      tx,
      first.filter((one) => inserted.has(keyOf(one))),
    );
  }

  /** Which of these replays wait for their turns, also when their end was told first: turns of others are nobody's. */
  async liveReplays(
    tx: Transaction,
    replays: readonly { readonly project: string; readonly replay: string }[],
  ): Promise<Set<string>> {
    const rows = await tx.query<{ replay: string }>(
      `SELECT v.replay FROM validation.replays v JOIN json_to_recordset($1::json) AS k(project text, replay text) USING (project, replay)
       WHERE v.state IN ('requested', 'started', 'finished')`,
      [JSON.stringify(replays)],
    );
    return new Set(rows.map(({ replay }) => replay));
  }

  /**
   * Asks the project's verifier about turns of replays, once; where there is none, tier 0 is answered empty. Returns whether jobs were made.
   */
  async answerOutcome(tx: Transaction, requests: readonly Key[], hasVerifier: (project: string) => boolean): Promise<boolean> {
    await lockTurns(tx, requests);
    const turns = await loadTurns(tx, requests);
    const [asked, alone] = [
      turns.filter(({ project }) => hasVerifier(project)),
      turns.filter(({ project }) => !hasVerifier(project)),
    ];
    for (const one of alone)
      emitScored(tx, { ...one, session: one.turn.session_id }, { tier: 0, answer: 1, scores: [], signals: [] });
    return insertJobs(tx, asked.map(verifierJob));
  }

  /** Answers a tier that was asked for, once per turn and tier; tier 1 of replays only. Returns whether jobs were made. */
  async answer(
    tx: Transaction,
    tier: 1 | 2 | 3,
    requests: readonly (Key & { traceparent?: string | undefined })[],
  ): Promise<boolean> {
    if (requests.length === 0) return false;
    await lockLookingBack(tx, requests);
    // In a statement of its own: one that waits for a lock has looked before whoever held it was done.
    await lockTurns(tx, requests);
    const claimed = await tx.query<Key>(
      `UPDATE scoring.turns SET answered_${tier} = 1 FROM (SELECT DISTINCT s, t FROM json_to_recordset($1::json) AS r(s uuid, t bigint)) k
       WHERE turns.s = k.s AND turns.t = k.t AND turns.answered_${tier} = 0
         AND NOT EXISTS (SELECT 1 FROM scoring.tier_waits w WHERE w.s = k.s AND w.t = k.t AND w.tier = ${tier}) RETURNING turns.s, turns.t`,
      [keysJson(requests)],
    );
    const causes = new Map(requests.map((one) => [keyOf(one), one.traceparent]));
    const turns = await loadTurns(tx, claimed);
    return openTier(
      tx,
      tier,
      turns.map((one) => ({ ...(tier === 1 ? ofLastTrace(one) : one), traceparent: causes.get(keyOf(one)) })),
      sentByTurn(turns, await sentRows(tx, turns)),
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
    await lockNamed(tx, claimed);
    for (const keys of await inReads(tx, claimed)) {
      const turns = await withNamedTraces(tx, await loadTurns(tx, keys));
      await openTier(tx, 1, turns, sentByTurn(turns, await sentRows(tx, turns)));
    }
    return claimed.length;
  }

  /** What later bodies of known turns add to them. */
  private async addLater(tx: Transaction, later: readonly ConfiguredTurn[]): Promise<void> {
    if (later.length === 0) return;
    const { carried, named } = await laterTraces(tx, later);
    for (const one of carried) await scoreAdded(tx, [one], sentByTurn([one], await sentRows(tx, [one])));
    await this.addTraces(tx, await whollyNamed(tx, named));
  }

  /** Traces that turns were scored without have come: tier 1 looks at them too. The caller has seen that they are all there. */
  async addTraces(tx: Transaction, keys: readonly Key[]): Promise<void> {
    if (keys.length === 0) return;
    await lockLookingBack(tx, keys);
    await lockTurns(tx, keys);
    await lockNamed(tx, keys);
    for (const own of await inReads(tx, keys)) {
      const turns = (await withNamedTraces(tx, await loadTurns(tx, own))).filter(({ added }) => added.length > 0);
      await scoreAdded(tx, turns, sentByTurn(turns, await sentRows(tx, turns)));
    }
  }

  /** Spans of these traces have come: turns that waited for them are due, and those that were scored without them are scored with them. */
  async spansCame(tx: Transaction, traces: readonly TraceKey[]): Promise<void> {
    const named = await turnsNaming(tx, traces);
    const keys = [...named.waiting, ...named.answered];
    if (keys.length === 0) return;
    await lockLookingBack(tx, keys);
    await lockTurns(tx, keys);
    await lockNamed(tx, keys);
    // Again: whoever held the turns may have answered them without these spans.
    const locked = new Set(keys.map(keyOf));
    const { waiting, answered } = await turnsNaming(tx, traces);
    const due = waiting.filter((key) => locked.has(keyOf(key)));
    await endTraceWait(tx, due);
    await this.answerOverdue(tx, due);
    await this.addTraces(
      tx,
      answered.filter((key) => locked.has(keyOf(key))),
    );
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

  /** The turns after late ones, in which loop detection may find something else now. */
  private followersOf(tx: Transaction, turns: readonly ConfiguredTurn[]): Promise<Key[]> {
    const late = turns.filter(({ config }) => looksBack(config));
    if (late.length === 0) return Promise.resolve([]);
    return tx.query<Key>(
      `SELECT DISTINCT f.s, f.t FROM json_to_recordset($1::json) AS k(s uuid, t bigint)
       CROSS JOIN LATERAL (SELECT s, t FROM scoring.turns WHERE s = k.s AND t > k.t ORDER BY t LIMIT ${LOOK_BACK}) f
       WHERE NOT EXISTS (SELECT 1 FROM json_to_recordset($1::json) AS own(s uuid, t bigint) WHERE own.s = f.s AND own.t = f.t)`,
      [keysJson(late)],
    );
  }

  /** What looks back is made anew; the rest of each tier stays as it is. Skipped turns were never looked at. */
  private async lookAgain(tx: Transaction, turns: readonly Answerable[]): Promise<void> {
    if (turns.length === 0) return;
    const earlier = await earlierAnswers(tx, turns);
    for (const tier of [1, 2, 3] as const) {
      const known = await tx.query<Key & { ordinal: number; trace: string }>(
        `SELECT c.s, c.t, c.ordinal, c.trace FROM scoring.scores c JOIN json_to_recordset($1::json) AS k(s uuid, t bigint) USING (s, t)
         WHERE c.tier = ${tier} AND c.metric = '${LOOKING_BACK}' AND c.source = 'check' AND c.code IS DISTINCT FROM '${SENT_BY_HOST}' ORDER BY c.s, c.t`,
        [keysJson(turns)],
      );
      const rows = turns.flatMap((one) => {
        const scores = scoreTier(one.turn, tier, one.config, { earlierAnswers: earlier.get(keyOf(one)) ?? [], sent: [] });
        return known
          .filter((row) => keyOf(row) === keyOf(one))
          .flatMap(({ ordinal, trace }) =>
            scores
              .filter(({ score }) => score.metric === LOOKING_BACK && (score.trace_id ?? '') === trace)
              .map(({ score }) => ({ s: one.s, t: one.t, tier, ordinal, score, provider: null })),
          );
      });
      await saveScores(tx, rows);
      await settleTiers(tx, [...new Map(rows.map(({ s, t }) => [keyOf({ s, t }), { s, t, tier }])).values()]);
    }
  }
}

const LOOKING_BACK = 'loop_detection';

/** The agent's own word about the outcome, where the project takes it for one. */
function hostOutcomes({ s, t, project, turn, acceptHostOutcome }: ConfiguredTurn): PostedScore[] {
  if (!acceptHostOutcome) return [];
  return outcomeInTurn(turn).map((one) => ({ s, t, project, session: turn.session_id, ...one }));
}

function verifierJob({ s, t, project, config }: Pick<ConfiguredTurn, 's' | 't' | 'project' | 'config'>): NewJob {
  const retryS = (config.scoring?.score_retry_h ?? 24) * 3_600;
  return { s, t, tier: 0, provider: VERIFIER, lane: 'verifier', project, evals: 1, retryS };
}

/** A replay is judged by its last trace alone. */
function ofLastTrace(one: Answerable): Answerable {
  return { ...one, turn: { ...one.turn, traces: one.turn.traces?.slice(-1) } };
}

/** Names a stored body: whose it is, and its hash. */
export function bodyKey(project: string, hash: string): string {
  return `${project}|${hash}`;
}
