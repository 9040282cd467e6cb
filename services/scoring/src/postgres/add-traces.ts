import type { Transaction } from '#persistence';
import { scoreTier } from '../score-tier.js';
import { insertJobs } from './job-rows.js';
import type { Completed } from './named-traces.js';
import { earlierAnswers, jobsOf, type SentByTurn } from './open-tier.js';
import { NOBODY, saveScores } from './score-rows.js';
import { settleTiers } from './settle-tiers.js';
import { keyOf } from './turn-rows.js';

/** After all that the tier had before: answers are given in trace order whatever the numbers are. */
const ADDED_ORDINAL = 100_000;

/** Traces that came when their turn had been scored without them: tier 1 looks at them too, and is answered again. */
export async function scoreAdded(tx: Transaction, turns: readonly Completed[], sent: SentByTurn): Promise<void> {
  if (turns.length === 0) return;
  const earlier = await earlierAnswers(tx, turns);
  const opened = turns.map((one) => {
    const context = { earlierAnswers: earlier.get(keyOf(one)) ?? [], sent: sent.get(keyOf(one)) ?? [] };
    // A value for the whole turn stands for these traces as well, and is there already.
    const scores = scoreTier({ ...one.turn, traces: [...one.added] }, 1, one.config, context);
    return { ...one, scores: scores.filter(({ score }) => score.trace_id !== null) };
  });
  await saveScores(
    tx,
    opened.flatMap(({ s, t, scores }) =>
      scores.map(({ score, place }, index) => ({
        ...{ s, t, tier: 1 as const, ordinal: ADDED_ORDINAL + index, score },
        provider: score.status === 'pending' ? (place?.provider ?? NOBODY) : null,
      })),
    ),
  );
  await insertJobs(
    tx,
    opened.flatMap((one) => jobsOf(one, 1)),
  );
  await settleTiers(
    tx,
    opened.map(({ s, t }) => ({ s, t, tier: 1 as const })),
  );
}
