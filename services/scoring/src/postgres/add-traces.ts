import type { Trace } from '#contracts';
import { derivedId } from '#domain/ids';
import type { Transaction } from '#persistence';
import { scoreTier, tracesOf } from '../score-tier.js';
import { insertJobs, releaseJobs } from './job-rows.js';
import type { Completed } from './named-traces.js';
import { awaitValues, earlierAnswers, jobsOf, needsOthers, scoreRowsOf, type Opened, type SentByTurn } from './open-tier.js';
import { forgetScores, saveScores, type TraceScores } from './score-rows.js';
import { settleTiers } from './settle-tiers.js';
import { keyOf, keysJson, type Key } from './turn-rows.js';

/** After all that the tier had before: answers are given in trace order whatever the numbers are. */
const ADDED_ORDINAL = 100_000;

/**
 * Traces that came, or became whole, when their turn had been scored without them: tier 1 looks at them too, and is answered again. The
 * costlier tiers look at the last trace alone: where that is one of these, what the gate had asked for is answered again as well.
 */
export async function scoreAdded(tx: Transaction, turns: readonly Completed[], sent: SentByTurn): Promise<void> {
  if (turns.length === 0) return;
  const earlier = await earlierAnswers(tx, turns);
  await forgetStages(tx, turns);
  const scored = (one: Completed, tier: 1 | 2 | 3, traces: readonly Trace[]): Opened => {
    const context = { earlierAnswers: earlier.get(keyOf(one)) ?? [], sent: sent.get(keyOf(one)) ?? [] };
    const scores = scoreTier({ ...one.turn, traces: [...traces] }, tier, one.config, context);
    // A value for the whole turn stands for these traces as well, and is there already.
    return { ...one, scores: scores.filter(({ score }) => score.trace_id !== null) };
  };
  await forgetScores(
    tx,
    turns.map(({ s, t, added }) => ({ s, t, tier: 1, traces: added.map(({ trace_id: id }) => id) })),
  );
  const first = turns.map((one) => scored(one, 1, one.added));
  await replaceScores(tx, 1, first);
  await settleTiers(
    tx,
    turns.map(({ s, t }) => ({ s, t, tier: 1 })),
  );
  for (const tier of [2, 3] as const) await againOnLast(tx, tier, turns, (one) => scored(one, tier, one.turn.traces ?? []));
}

/**
 * What a costlier tier has said of a trace that is not the last any more, or was not whole, counts no longer. The new answer is given when
 * all of it is there, or its time is over: until then the one before stands, so that a problem does not come and go in between.
 */
async function againOnLast(
  tx: Transaction,
  tier: 2 | 3,
  turns: readonly Completed[],
  scored: (one: Completed) => Opened,
): Promise<void> {
  const touched = turns.filter(({ turn, added }) => {
    const ids = new Set(added.map(({ trace_id: id }) => id));
    return tracesOf(turn, tier).some(({ trace_id: id }) => ids.has(id));
  });
  const asked = await askedFor(tx, tier, touched);
  const again = touched.filter((one) => asked.has(keyOf(one)));
  if (again.length === 0) return;
  await forgetScores(
    tx,
    again.map(({ s, t }): TraceScores => ({ s, t, tier, traces: 'all' })),
  );
  const opened = again.map(scored);
  await replaceScores(tx, tier, opened);
  await awaitValues(tx, tier, opened.filter(needsOthers));
  for (const { s, t, project, turn } of again)
    tx.journal({
      id: derivedId('tier_again', s, t, tier, asked.get(keyOf({ s, t })) ?? 0, turn.traces?.at(-1)?.trace_id ?? ''),
      ...{ project, type: 'tier_again', s, session: turn.session_id, t },
      doc: { tier, trace_id: turn.traces?.at(-1)?.trace_id },
    });
  await settleTiers(
    tx,
    again.map(({ s, t }) => ({ s, t, tier })),
  );
}

/** Turns whose tier the gate has asked for, with how often it was answered. */
async function askedFor(tx: Transaction, tier: 2 | 3, keys: readonly Key[]): Promise<Map<string, number>> {
  if (keys.length === 0) return new Map();
  const rows = await tx.query<Key & { answered: number }>(
    `SELECT t.s, t.t, t.answered_${tier} AS answered FROM scoring.turns t JOIN json_to_recordset($1::json) AS k(s uuid, t bigint) USING (s, t)
     WHERE t.answered_${tier} > 0 OR EXISTS (SELECT 1 FROM scoring.tier_waits w WHERE w.s = t.s AND w.t = t.t AND w.tier = ${tier})`,
    [keysJson(keys)],
  );
  return new Map(rows.map((row) => [keyOf(row), row.answered]));
}

/** In place of what was forgotten. Whoever is making a value of it now makes it of what the trace was before: that counts for nothing. */
async function replaceScores(tx: Transaction, tier: 1 | 2 | 3, opened: readonly Opened[]): Promise<void> {
  await saveScores(tx, scoreRowsOf(opened, tier, ADDED_ORDINAL));
  await releaseJobs(tx, tier, opened);
  await insertJobs(
    tx,
    opened.flatMap((one) => jobsOf(one, tier)),
  );
}

/** What judges have extracted from these traces before they were whole. */
async function forgetStages(tx: Transaction, turns: readonly Completed[]): Promise<void> {
  const rows = turns.flatMap(({ s, t, added }) => added.map(({ trace_id: trace }) => ({ s, t, trace })));
  await tx.query(
    `DELETE FROM scoring.judge_stages g USING json_to_recordset($1::json) AS k(s uuid, t bigint, trace text)
     WHERE g.s = k.s AND g.t = k.t AND g.trace = k.trace`,
    [JSON.stringify(rows)],
  );
}
