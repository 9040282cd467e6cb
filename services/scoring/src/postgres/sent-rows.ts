import { OUTCOME_METRIC, type Score, type Tier } from '#contracts';
import { HOST_VERSION } from '#domain/scoring';
import type { Transaction } from '#persistence';
import { boundedReason } from '../bounded-score.js';
import { evaluatorOf, sentScore, tracesOf, type SentScore } from '../score-tier.js';
import { scoresInTurn } from '../sent-scores.js';
import type { TurnConfig } from '../turn-config.js';
import { emitScored } from './emit-scored.js';
import type { Answerable, SentByTurn } from './open-tier.js';
import { lockTurns, saveScores, type TierKey } from './score-rows.js';
import { settleTiers } from './settle-tiers.js';
import { loadTurns } from './stored-turns.js';
import { keyOf, keysJson, type Key } from './turn-rows.js';

export type SentRow = Key & SentScore;

/** What was sent for these turns, in the turns themselves or apart (`rows`); the turn's own word is first. */
export function sentByTurn(turns: readonly Pick<Answerable, 's' | 't' | 'turn'>[], rows: readonly SentRow[]): SentByTurn {
  const sent = new Map(turns.map((one): [string, SentScore[]] => [keyOf(one), scoresInTurn(one.turn)]));
  for (const { s, t, ...one } of rows) if (one.metric !== OUTCOME_METRIC) sent.get(keyOf({ s, t }))?.push(one);
  return sent;
}

/** Scores that were sent apart from their turns, attached or not. */
export async function sentRows(tx: Transaction, keys: readonly Key[]): Promise<SentRow[]> {
  return keys.length === 0 ? [] : readRows(tx, keys);
}

/** What had come before its turn, which is new: its tiers have just been opened with it, and the verifier's word is answered now. */
export async function attachToNew(tx: Transaction, rows: readonly SentRow[]): Promise<void> {
  if (rows.length === 0) return;
  const keys = distinctTurns(rows);
  const turns = await storedTurns(tx, keys);
  await markAttached(tx, keys);
  await answerOutcomes(tx, turns, rows);
}

function markAttached(tx: Transaction, keys: readonly Key[]): Promise<SentRow[]> {
  return tx.query<SentRow>(
    `UPDATE scoring.posted_scores p SET attached = true FROM json_to_recordset($1::json) AS k(s uuid, t bigint)
     WHERE p.s = k.s AND p.t = k.t AND NOT attached RETURNING p.s, p.t, p.metric, p.trace, p.value, p.reason`,
    [keysJson(keys)],
  );
}

function readRows(tx: Transaction, keys: readonly Key[]): Promise<SentRow[]> {
  return tx.query<SentRow>(
    `SELECT p.s, p.t, p.metric, p.trace, p.value, p.reason FROM scoring.posted_scores p
     JOIN (SELECT DISTINCT s, t FROM json_to_recordset($1::json) AS r(s uuid, t bigint)) k USING (s, t) ORDER BY p.s, p.t, p.metric, p.trace`,
    [keysJson(keys)],
  );
}

/** Two transactions miss each other within seconds; a score whose turn never comes is not looked at for ever. */
const MISSED_MINUTES = 10;

/**
 * Sent scores that came after their turn. Each tier touched gets a new, whole
 * answer. Without keys: the turn and the score were written beside each other and missed each other; found by looking again.
 */
export async function attachSent(tx: Transaction, keys?: readonly Key[]): Promise<void> {
  if (keys?.length === 0) return;
  const waiting = await (keys === undefined ? missed(tx) : unattached(tx, keys));
  if (waiting.length === 0) return;
  await lockTurns(tx, waiting);
  const turns = await storedTurns(tx, waiting);
  const marked = await markAttached(tx, waiting);
  await answerOutcomes(tx, turns, marked);
  await replaceAsked(
    tx,
    turns,
    marked.filter(({ metric }) => metric !== OUTCOME_METRIC),
  );
}

function unattached(tx: Transaction, keys: readonly Key[]): Promise<Key[]> {
  return tx.query<Key>(
    `SELECT DISTINCT s, t FROM scoring.posted_scores p JOIN scoring.turns USING (s, t) JOIN json_to_recordset($1::json) AS k(s uuid, t bigint) USING (s, t)
     WHERE NOT attached ORDER BY s, t`,
    [keysJson(keys)],
  );
}

/** Of the newest that are not attached, those whose turn is there. */
function missed(tx: Transaction): Promise<Key[]> {
  return tx.query<Key>(
    `SELECT DISTINCT s, t FROM (SELECT s, t FROM scoring.posted_scores WHERE NOT attached AND at > now() - interval '${MISSED_MINUTES} minutes' ORDER BY at DESC LIMIT 4096) p
     JOIN scoring.turns USING (s, t) ORDER BY s, t LIMIT 256`,
  );
}

interface StoredTurn extends Key {
  readonly project: string;
  readonly session: string;
  readonly accepted_us: number;
  readonly config: string;
  readonly doc: TurnConfig;
  readonly skipped: string | null;
  /** Whether tiers 1, 2 and 3 have been asked for: only then is there anything to answer again. */
  readonly asked: readonly [boolean, boolean, boolean];
}

/** In a statement after the one that locks them: what waits for a lock has looked before whoever held it was done. */
function storedTurns(tx: Transaction, keys: readonly Key[]): Promise<StoredTurn[]> {
  const asked = [1, 2, 3].map(
    (tier) =>
      `(t.answered_${tier} > 0 OR EXISTS (SELECT 1 FROM scoring.tier_waits w WHERE w.s = t.s AND w.t = t.t AND w.tier = ${tier}))`,
  );
  return tx.query<StoredTurn>(
    `SELECT t.s, t.t, t.project, x.session, t.accepted_us, t.config, c.doc, t.skipped, ARRAY[${asked.join(', ')}] AS asked
     FROM scoring.turns t JOIN json_to_recordset($1::json) AS k(s uuid, t bigint) USING (s, t)
     JOIN scoring.sessions x USING (s) JOIN scoring.configs c ON c.id = t.config ORDER BY t.s, t.t`,
    [keysJson(keys)],
  );
}

/** The verifier has spoken: tier 0, whole. A word about a trace that the turn does not have says nothing. */
async function answerOutcomes(tx: Transaction, all: readonly StoredTurn[], spoken: readonly SentRow[]): Promise<void> {
  const heard = new Set((await ofOwnTraces(tx, spoken.filter(isOutcome))).map(keyOf));
  const turns = all.filter((turn) => heard.has(keyOf(turn)));
  if (turns.length === 0) return;
  const answered = await tx.query<Key & { answer: number }>(
    `UPDATE scoring.turns SET answered_0 = answered_0 + 1 FROM json_to_recordset($1::json) AS k(s uuid, t bigint)
     WHERE turns.s = k.s AND turns.t = k.t RETURNING turns.s, turns.t, answered_0 AS answer`,
    [keysJson(turns)],
  );
  const answers = new Map(answered.map((one) => [keyOf(one), one.answer]));
  const sent = await ofOwnTraces(tx, (await sentRows(tx, turns)).filter(isOutcome));
  const outcomes = turns.map((turn) => ({
    turn,
    scores: sent.filter((one) => keyOf(one) === keyOf(turn)).map(outcomeScore),
  }));
  await saveScores(
    tx,
    outcomes.flatMap(({ turn: { s, t }, scores }) =>
      scores.map((score, ordinal) => ({ ...{ s, t, tier: 0, ordinal, score }, provider: null })),
    ),
  );
  for (const { turn, scores } of outcomes) {
    emitScored(
      tx,
      { ...turn, acceptedAt: turn.accepted_us, configId: turn.config, partial: false },
      { tier: 0, answer: answers.get(keyOf(turn)) ?? 1, scores, signals: [] },
    );
  }
}

function isOutcome({ metric }: SentScore): boolean {
  return metric === OUTCOME_METRIC;
}

/** Those about whole turns, and about traces that their turns carry or name. */
async function ofOwnTraces(tx: Transaction, rows: readonly SentRow[]): Promise<SentRow[]> {
  const turns = await loadTurns(tx, distinctTurns(rows.filter(({ trace }) => trace !== '')));
  const own = new Map(
    turns.map(({ s, t, turn: { traces, trace_ids: named } }) => [
      keyOf({ s, t }),
      new Set([...(traces ?? []).map(({ trace_id: id }) => id), ...(named ?? [])]),
    ]),
  );
  return rows.filter((row) => row.trace === '' || own.get(keyOf(row))?.has(row.trace) === true);
}

const VERIFIER_VERSION = 'verifier/1';

/** A verifier's value is held to [0, 1]. */
function outcomeScore({ metric, trace, value, reason }: SentScore): Score {
  return {
    ...{ metric, trace_id: trace === '' ? null : trace, status: value === null ? 'not_applicable' : 'scored' },
    value: value === null ? null : Math.min(1, Math.max(0, value)),
    ...{ source: 'verifier', evaluator: VERIFIER_VERSION, reason: boundedReason(reason), code: null, spans: [] },
  };
}

/** The code of what a host's value has taken the place of. */
export const SENT_BY_HOST = 'sent_by_host';

/** After all that an evaluator has been asked for. */
const SENT_ORDINAL = 1_000_000;

/**
 * Host scores that come when their tier has been asked for take the place of what an evaluator has said, or has yet to say: what
 * counts must not depend on who was faster. One about a trace that the tier does not look at says nothing.
 */
async function replaceAsked(tx: Transaction, turns: readonly StoredTurn[], sent: readonly SentRow[]): Promise<void> {
  const all = turns
    .filter(({ skipped }) => skipped === null)
    .flatMap((turn) => {
      const own = sent.filter((one) => keyOf(one) === keyOf(turn));
      return own.flatMap((one) => tiersOf(turn, one.metric).map((tier) => ({ s: turn.s, t: turn.t, tier, sent: one })));
    });
  const rows = await lookedAt(tx, all);
  if (rows.length === 0) return;
  await saveScores(
    tx,
    rows.map(({ s, t, tier, sent: one }) => ({ s, t, tier, ordinal: SENT_ORDINAL, score: sentScore(one), provider: null })),
  );
  await tx.query(
    `UPDATE scoring.scores c SET status = 'not_applicable', value = NULL, code = '${SENT_BY_HOST}', reason = 'The host sent a value.', provider = NULL, at = now()
     FROM json_to_recordset($1::json) AS k(s uuid, t bigint, metric text, trace text)
     WHERE c.s = k.s AND c.t = k.t AND c.metric = k.metric AND (k.trace = '' OR c.trace = k.trace) AND c.evaluator <> '${HOST_VERSION}'`,
    [JSON.stringify(rows.map(({ s, t, sent: one }) => ({ s, t, metric: one.metric, trace: one.trace })))],
  );
  await settleTiers(tx, distinctKeys(rows));
}

/** Without those about traces that their tiers do not look at. */
async function lookedAt<Row extends TierKey & { readonly tier: Exclude<Tier, 0>; readonly sent: SentScore }>(
  tx: Transaction,
  rows: readonly Row[],
): Promise<Row[]> {
  const ofTraces = distinctTurns(rows.filter(({ sent }) => sent.trace !== ''));
  const turns = new Map((await loadTurns(tx, ofTraces)).map((one) => [keyOf(one), one.turn]));
  return rows.filter((row) => {
    const turn = turns.get(keyOf(row));
    return (
      row.sent.trace === '' || (turn !== undefined && tracesOf(turn, row.tier).some(({ trace_id: id }) => id === row.sent.trace))
    );
  });
}

/** Tiers that have been asked for and measure this metric by what a host says. */
function tiersOf({ doc, asked }: StoredTurn, metric: string): Exclude<Tier, 0>[] {
  if (!evaluatorOf(metric, doc).hostFirst) return [];
  return ([1, 2, 3] as const).filter((tier) => asked[tier - 1] === true && doc.tiers[tier].includes(metric));
}

function distinctTurns(keys: readonly Key[]): Key[] {
  return [...new Map(keys.map(({ s, t }) => [keyOf({ s, t }), { s, t }])).values()];
}

function distinctKeys(keys: readonly TierKey[]): TierKey[] {
  return [...new Map(keys.map(({ s, t, tier }) => [`${s}|${t}|${tier}`, { s, t, tier }])).values()];
}
