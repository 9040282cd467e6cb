import { Injectable } from '@nestjs/common';
import { traceScored, type Score, type Tier, type Turn } from '#contracts';
import type { GateConfig } from '#domain/gate';
import { derivedId } from '#domain/ids';
import { jsonBytes, stringifyJson } from '#ingest';
import type { Delivery } from '#messaging';
import type { Transaction } from '#persistence';
import type { AcceptedTurn, TurnPayload } from '../accepted-turn.js';
import { readBody } from '../decode-turn.js';
import { answerText, looksBack, scoreTier, signalsOf } from '../score-turn.js';
import { attachPosted, saveScores } from './score-rows.js';

export interface ConfiguredTurn extends AcceptedTurn {
  readonly configId: string;
  readonly config: GateConfig;
  readonly traceWaitS: number;
}

interface Key {
  readonly s: string;
  readonly t: number;
}

/** A turn whose tier is to be answered, with what the answer needs. */
interface Answerable extends Key {
  readonly project: string;
  readonly turn: Turn;
  readonly acceptedAt: number;
  readonly configId: string;
  readonly config: GateConfig;
  readonly partial: boolean;
  readonly traceparent?: string | undefined;
}

const keyOf = ({ s, t }: Key): string => `${s}|${t}`;
const keysJson = (keys: readonly Key[]): string => JSON.stringify(keys.map(({ s, t }) => ({ s, t })));

/** How many earlier turns loop detection looks at. */
const LOOK_BACK = 3;
const OVERDUE_ROWS = 64;

/** The facts of turns and the answers given about them (DATAFLOW, steps 2 and 4). Every method works inside the caller's transaction. */
@Injectable()
export class TurnStore {
  /** Bodies that the gateway stored instead of sending, by hash. */
  async referencedBodies(tx: Transaction, batch: readonly Delivery<TurnPayload>[]): Promise<Map<string, Buffer>> {
    const hashes = batch.flatMap(({ payload }) => ('body_ref' in payload ? [payload.body_ref] : []));
    if (hashes.length === 0) return new Map();
    const rows = await tx.query<{ hash: string; body: Buffer }>(
      'SELECT hash, body FROM edge.bodies WHERE hash = ANY($1::text[])',
      [hashes],
    );
    return new Map(rows.map(({ hash, body }) => [hash, body]));
  }

  /** Stores new turns and answers their first tier; known ones change nothing. `turns` is sorted by key. */
  async accept(tx: Transaction, turns: readonly ConfiguredTurn[]): Promise<void> {
    const distinct = new Map<string, ConfiguredTurn>();
    for (const one of turns) if (!distinct.has(keyOf(one))) distinct.set(keyOf(one), one);
    const first = [...distinct.values()];
    await saveConfigs(tx, first);
    await saveSessions(tx, first);
    const back = first.filter(({ config }) => looksBack(config));
    // Whoever looks at a session's earlier turns must not miss one that is being written beside it.
    if (back.length > 0)
      await tx.query('SELECT s FROM scoring.sessions WHERE s = ANY($1::uuid[]) ORDER BY s FOR UPDATE', [back.map(({ s }) => s)]);
    const inserted = new Set((await insertTurns(tx, first)).map(keyOf));
    const fresh = first.filter((one) => inserted.has(keyOf(one)));
    await insertBodies(tx, fresh);
    await journalConflicts(tx, turns, inserted);
    const ready = fresh.filter((one) => !awaitsTraces(one.turn)).map((one) => ({ ...one, partial: false }));
    await attachPosted(tx, fresh);
    await this.answerTurns(tx, 1, ready);
    await this.answerFollowers(
      tx,
      fresh.filter(({ config }) => looksBack(config)),
    );
  }

  /** Answers a costlier tier that the gate asked for, once per turn and tier. */
  async answer(tx: Transaction, tier: 2 | 3, requests: readonly (Key & { traceparent?: string | undefined })[]): Promise<void> {
    if (requests.length === 0) return;
    const claimed = await tx.query<Key>(
      `WITH asked AS (SELECT t.s, t.t FROM scoring.turns t JOIN json_to_recordset($1::json) AS k(s uuid, t bigint) USING (s, t)
         WHERE t.answered_${tier} = 0 ORDER BY t.s, t.t FOR UPDATE OF t)
       UPDATE scoring.turns SET answered_${tier} = 1 FROM asked WHERE turns.s = asked.s AND turns.t = asked.t RETURNING turns.s, turns.t`,
      [keysJson(requests)],
    );
    const causes = new Map(requests.map((one) => [keyOf(one), one.traceparent]));
    const turns = await this.load(tx, claimed);
    await this.answerTurns(
      tx,
      tier,
      turns.map((one) => ({ ...one, traceparent: causes.get(keyOf(one)) })),
    );
  }

  /** Turns that waited for their traces as long as they may: scored on what is there, flagged partial. */
  async answerOverdue(tx: Transaction): Promise<void> {
    const overdue = await tx.query<Key>(
      `WITH due AS (SELECT s, t FROM scoring.turns WHERE wait_until <= now() ORDER BY s, t LIMIT ${OVERDUE_ROWS} FOR UPDATE SKIP LOCKED)
       UPDATE scoring.turns SET wait_until = NULL, partial = true, answered_1 = 1 FROM due WHERE turns.s = due.s AND turns.t = due.t RETURNING turns.s, turns.t`,
    );
    if (overdue.length > 0) await this.answerTurns(tx, 1, await this.load(tx, overdue));
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
    const turns = await this.load(tx, followers);
    for (const tier of [1, 2, 3] as const) {
      const answered = await tx.query<Key & { answer: number }>(
        `UPDATE scoring.turns SET answered_${tier} = answered_${tier} + 1 FROM json_to_recordset($1::json) AS k(s uuid, t bigint)
         WHERE turns.s = k.s AND turns.t = k.t AND answered_${tier} > 0 RETURNING turns.s, turns.t, answered_${tier} AS answer`,
        [keysJson(turns.filter(({ config }) => config.tiers[tier].includes('loop_detection')))],
      );
      const answers = new Map(answered.map((one) => [keyOf(one), one.answer]));
      await this.answerTurns(
        tx,
        tier,
        turns.filter((one) => answers.has(keyOf(one))),
        answers,
      );
    }
  }

  private async answerTurns(
    tx: Transaction,
    tier: Exclude<Tier, 0>,
    turns: readonly Answerable[],
    answers?: ReadonlyMap<string, number>,
  ): Promise<void> {
    if (turns.length === 0) return;
    const earlier = await earlierAnswers(
      tx,
      turns.filter(({ config }) => looksBack(config)),
    );
    const scored = turns.map((one) => ({ ...one, scores: scoreTier(one.turn, tier, one.config, earlier.get(keyOf(one)) ?? []) }));
    await saveScores(
      tx,
      scored.flatMap(({ s, t, scores }) => scores.map((score, ordinal) => ({ s, t, tier, ordinal, score }))),
    );
    for (const one of scored) emitAnswer(tx, one, { tier, answer: answers?.get(keyOf(one)) ?? 1, scores: one.scores });
  }

  /** Stored turns with their bodies, sorted by key. */
  private async load(tx: Transaction, keys: readonly Key[]): Promise<Answerable[]> {
    if (keys.length === 0) return [];
    const rows = await tx.query<
      Key & { project: string; accepted_us: number; config: string; doc: GateConfig; partial: boolean; body: Buffer }
    >(
      `SELECT t.s, t.t, t.project, t.accepted_us, t.config, c.doc, t.partial, b.body FROM json_to_recordset($1::json) AS k(s uuid, t bigint)
       JOIN scoring.turns t USING (s, t) JOIN scoring.turn_bodies b USING (s, t) JOIN scoring.configs c ON c.id = t.config ORDER BY t.s, t.t`,
      [keysJson(keys)],
    );
    return rows.map(({ s, t, project, accepted_us, config, doc, partial, body }) => ({
      ...{ s, t, project, partial, config: doc, configId: config, acceptedAt: accepted_us },
      turn: readBody(body),
    }));
  }
}

/** A turn that names traces which it does not carry waits for them. */
function awaitsTraces({ trace_ids: named, traces }: Turn): boolean {
  const inline = new Set((traces ?? []).map(({ trace_id }) => trace_id));
  return (named ?? []).some((id) => !inline.has(id));
}

function emitAnswer(
  tx: Transaction,
  one: Answerable,
  { tier, answer, scores }: { tier: Tier; answer: number; scores: Score[] },
): void {
  tx.emit({
    event: traceScored,
    id: derivedId('trace.scored', one.s, one.t, tier, answer),
    project: one.project,
    traceparent: one.traceparent,
    payload: {
      session_id: one.turn.session_id,
      turn_index: one.t,
      tier,
      answer,
      accepted_at: one.acceptedAt,
      config: one.configId,
      scores,
      signals: tier === 1 ? signalsOf(one.turn) : [],
      pending: false,
      partial: one.partial,
      skipped: null,
    },
  });
}

/** One row per distinct configuration, by its content; written with every batch, since an earlier one may have been rolled back. */
async function saveConfigs(tx: Transaction, turns: readonly ConfiguredTurn[]): Promise<void> {
  const rows = [...new Map(turns.map(({ configId, config }) => [configId, config]))].map(([id, doc]) => ({ id, doc }));
  await tx.query(
    'INSERT INTO scoring.configs (id, doc) SELECT id, doc FROM json_to_recordset($1::json) AS r(id text, doc jsonb) ORDER BY id ON CONFLICT DO NOTHING',
    [JSON.stringify(rows)],
  );
}

async function saveSessions(tx: Transaction, turns: readonly ConfiguredTurn[]): Promise<void> {
  const rows = new Map(
    turns.map(({ s, project, turn }) => [s, { s, project, session: turn.session_id, agent: turn.agent?.id ?? null }]),
  );
  await tx.query(
    `INSERT INTO scoring.sessions (s, project, session, agent)
     SELECT s, project, session, agent FROM json_to_recordset($1::json) AS r(s uuid, project text, session text, agent text) ORDER BY s ON CONFLICT DO NOTHING`,
    [JSON.stringify([...rows.values()])],
  );
}

function insertTurns(tx: Transaction, turns: readonly ConfiguredTurn[]): Promise<Key[]> {
  const rows = turns.map(({ s, t, project, acceptedAt, sha, configId, traceWaitS, turn }) => ({
    ...{ s, t, project, accepted_us: acceptedAt, sha, config: configId },
    wait_s: awaitsTraces(turn) ? traceWaitS : null,
    agent_version: turn.agent?.version ?? null,
    model: turn.agent?.model ?? null,
    end_state: replayInput(turn),
    scope_hints: turn.rule_scope_hints ?? null,
  }));
  return tx.query<Key>(
    `INSERT INTO scoring.turns (s, t, project, accepted_us, body_sha, config, wait_until, answered_1, agent_version, model, end_state, scope_hints)
     SELECT s, t, project, accepted_us, decode(sha, 'hex'), config, now() + make_interval(secs => wait_s), (wait_s IS NULL)::int, agent_version, model, end_state, scope_hints
     FROM json_to_recordset($1::json) AS r(s uuid, t bigint, project text, accepted_us bigint, sha text, config text, wait_s float8, agent_version text, model text, end_state jsonb, scope_hints jsonb)
     ORDER BY s, t ON CONFLICT DO NOTHING RETURNING s, t`,
    [stringifyJson(rows)],
  );
}

const REPLAY_INPUT_BYTES = 64 * 1024;

/** What a replay may start from: the end state when it is of a reasonable size. A larger one is kept with the body only. */
function replayInput({ end_state: state }: Turn): unknown {
  return state !== undefined && jsonBytes(state) <= REPLAY_INPUT_BYTES ? state : null;
}

/** Bytes as one parameter per row: measured three times cheaper than through an array. */
async function insertBodies(tx: Transaction, turns: readonly ConfiguredTurn[]): Promise<void> {
  if (turns.length === 0) return;
  const places = turns.map((_, index) => `($${3 * index + 1}, $${3 * index + 2}, $${3 * index + 3})`).join(', ');
  await tx.query(
    `INSERT INTO scoring.turn_bodies (s, t, body) VALUES ${places}`,
    turns.flatMap(({ s, t, body }) => [s, t, body]),
  );
}

/** A second body with other content: the first stays, and somebody may want to know. */
async function journalConflicts(tx: Transaction, turns: readonly ConfiguredTurn[], inserted: ReadonlySet<string>): Promise<void> {
  const times = new Map<string, number>();
  for (const one of turns) times.set(keyOf(one), (times.get(keyOf(one)) ?? 0) + 1);
  const known = turns.filter((one) => !inserted.has(keyOf(one)) || times.get(keyOf(one)) !== 1);
  if (known.length === 0) return;
  const stored = await tx.query<Key & { sha: string }>(
    `SELECT s, t, encode(body_sha, 'hex') AS sha FROM scoring.turns JOIN json_to_recordset($1::json) AS k(s uuid, t bigint) USING (s, t)`,
    [keysJson(known)],
  );
  const shas = new Map(stored.map((one) => [keyOf(one), one.sha]));
  for (const { s, t, sha, project, turn } of known) {
    if (shas.get(keyOf({ s, t })) === sha) continue;
    tx.journal({
      id: derivedId('turn_conflict', s, t, sha),
      project,
      type: 'turn_conflict',
      s,
      session: turn.session_id,
      t,
      doc: { kept: shas.get(keyOf({ s, t })), refused: sha },
    });
  }
}

/** Answer texts of up to three earlier turns, newest first, for turns whose metrics look back. */
async function earlierAnswers(tx: Transaction, turns: readonly Answerable[]): Promise<Map<string, string[]>> {
  const answers = new Map<string, string[]>();
  if (turns.length === 0) return answers;
  const rows = await tx.query<Key & { body: Buffer }>(
    `SELECT k.s, k.t, b.body FROM json_to_recordset($1::json) AS k(s uuid, t bigint)
     CROSS JOIN LATERAL (SELECT t, body FROM scoring.turn_bodies WHERE s = k.s AND t < k.t ORDER BY t DESC LIMIT ${LOOK_BACK}) b ORDER BY k.s, k.t, b.t DESC`,
    [keysJson(turns)],
  );
  for (const row of rows) answers.set(keyOf(row), [...(answers.get(keyOf(row)) ?? []), answerText(readBody(row.body))]);
  return answers;
}
