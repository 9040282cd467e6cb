import type { Tier, Turn } from '#contracts';
import { answerText } from '#domain/checks';
import type { Transaction } from '#persistence';
import { readBody } from '../decode-turn.js';
import { looksBack, scoreTier, signalsOf, type SentScore, type TierScore } from '../score-tier.js';
import type { TurnConfig } from '../turn-config.js';
import { emitScored } from './emit-scored.js';
import { insertJobs, type NewJob } from './job-rows.js';
import { NOBODY, saveScores, type ScoreRow } from './score-rows.js';
import { keyOf, keysJson, type Key } from './turn-rows.js';

/** A turn whose tier is to be answered, with what the answer needs. */
export interface Answerable extends Key {
  readonly project: string;
  readonly turn: Turn;
  readonly acceptedAt: number;
  readonly configId: string;
  readonly config: TurnConfig;
  readonly partial: boolean;
  readonly traceparent?: string | undefined;
}

/** Values that were sent for turns, by turn. */
export type SentByTurn = ReadonlyMap<string, readonly SentScore[]>;

/** How many earlier turns loop detection looks at. */
export const LOOK_BACK = 3;
const DEFAULT_WAIT_S = 60;
const DEFAULT_RETRY_H = 24;

export type Opened = Answerable & { readonly scores: readonly TierScore[] };

/**
 * A tier of turns is asked for, the first time: checks answer at once; what needs a model, or somebody else's answer, becomes a
 * job, and the tier is answered when all have come or `report_wait_s` is over. The callers have marked the tier as answered.
 * Returns whether jobs were made.
 */
export async function openTier(
  tx: Transaction,
  tier: Exclude<Tier, 0>,
  turns: readonly Answerable[],
  sent: SentByTurn,
): Promise<boolean> {
  if (turns.length === 0) return false;
  const earlier = await earlierAnswers(
    tx,
    turns.filter(({ config }) => looksBack(config)),
  );
  const opened = turns.map((one): Opened => {
    const context = { earlierAnswers: earlier.get(keyOf(one)) ?? [], sent: sent.get(keyOf(one)) ?? [] };
    return { ...one, scores: scoreTier(one.turn, tier, one.config, context) };
  });
  await saveScores(tx, scoreRowsOf(opened, tier));
  const made = await insertJobs(
    tx,
    opened.flatMap((one) => jobsOf(one, tier)),
  );
  const waiting = opened.filter(needsOthers);
  await wait(tx, tier, waiting);
  for (const one of opened) if (!waiting.includes(one)) emitFirst(tx, tier, one);
  return made;
}

/** Scores as they are stored, in their order from `first` on. */
export function scoreRowsOf(opened: readonly Opened[], tier: Tier, first = 0): ScoreRow[] {
  return opened.flatMap(({ s, t, scores }) =>
    scores.map(({ score, place }, index) => ({
      ...{ s, t, tier, ordinal: first + index, score },
      provider: score.status === 'pending' ? (place?.provider ?? NOBODY) : null,
    })),
  );
}

/** Whether some of its values are made by somebody else, and worth waiting for. */
export function needsOthers({ scores }: Opened): boolean {
  return scores.some(({ place }) => place !== null);
}

function emitFirst(tx: Transaction, tier: Exclude<Tier, 0>, one: Opened): void {
  const scores = one.scores.map(({ score }) => score);
  emitScored(
    tx,
    { ...one, session: one.turn.session_id },
    { tier, answer: 1, scores, signals: tier === 1 ? signalsOf(one.turn) : [], pending: isPending(scores) },
  );
}

export function isPending(scores: readonly { readonly status: string }[]): boolean {
  return scores.some(({ status }) => status === 'pending');
}

/** One job per turn, tier and provider. */
export function jobsOf({ s, t, project, config, scores }: Opened, tier: Tier): NewJob[] {
  const retryS = (config.scoring?.score_retry_h ?? DEFAULT_RETRY_H) * 3_600;
  const jobs = new Map<string, NewJob>();
  for (const { score, place } of scores) {
    if (score.status !== 'pending') continue;
    const { lane, provider } = place ?? { lane: null, provider: NOBODY };
    const evals = (jobs.get(provider)?.evals ?? 0) + 1;
    jobs.set(provider, { s, t, tier, provider, lane, project, evals, retryS });
  }
  return [...jobs.values()];
}

/** A tier that waits for its first answer. */
async function wait(tx: Transaction, tier: Exclude<Tier, 0>, turns: readonly Opened[]): Promise<void> {
  if (turns.length === 0) return;
  await awaitValues(tx, tier, turns);
  await tx.query(
    `UPDATE scoring.turns SET answered_${tier} = 0 FROM json_to_recordset($1::json) AS k(s uuid, t bigint) WHERE turns.s = k.s AND turns.t = k.t`,
    [keysJson(turns)],
  );
}

/** The tier's next answer is given when all values are there, or `report_wait_s` is over. */
export async function awaitValues(tx: Transaction, tier: Exclude<Tier, 0>, turns: readonly Opened[]): Promise<void> {
  if (turns.length === 0) return;
  const rows = turns.map(({ s, t, config, traceparent }) => ({
    ...{ s, t, traceparent: traceparent ?? null },
    wait_s: config.scoring?.report_wait_s ?? DEFAULT_WAIT_S,
  }));
  await tx.query(
    `INSERT INTO scoring.tier_waits (s, t, tier, until, traceparent)
     SELECT s, t, ${tier}, now() + make_interval(secs => wait_s), traceparent
     FROM json_to_recordset($1::json) AS r(s uuid, t bigint, wait_s float8, traceparent text) ORDER BY s, t ON CONFLICT DO NOTHING`,
    [JSON.stringify(rows)],
  );
}

/** Answer texts of up to three earlier turns, newest first, for turns whose metrics look back. */
export async function earlierAnswers(tx: Transaction, turns: readonly Key[]): Promise<Map<string, string[]>> {
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
