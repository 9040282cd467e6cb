import { OUTCOME_METRIC, type Turn } from '#contracts';
import type { SentScore } from './score-tier.js';

/** The scores in a turn itself, about its metrics; the agent's own word about the outcome is not among them. */
export function scoresInTurn({ scores }: Turn): SentScore[] {
  return distinct((scores ?? []).filter(({ metric }) => metric !== OUTCOME_METRIC).map(sent));
}

/** What the agent says itself about the outcome: counts only where the project accepts it. */
export function outcomeInTurn({ scores }: Turn): SentScore[] {
  return distinct((scores ?? []).filter(({ metric }) => metric === OUTCOME_METRIC).map(sent));
}

function sent({ metric, trace_id, value, reason }: NonNullable<Turn['scores']>[number]): SentScore {
  return { metric, trace: trace_id ?? '', value: numberOf(value), reason: reason ?? null };
}

/** The first value about the same thing stays. */
function distinct(scores: readonly SentScore[]): SentScore[] {
  const known = new Map<string, SentScore>();
  for (const one of scores) {
    const key = JSON.stringify([one.metric, one.trace]);
    if (!known.has(key)) known.set(key, one);
  }
  return [...known.values()];
}

/** true and false are 1 and 0. */
export function numberOf(value: number | boolean | null): number | null {
  return typeof value === 'boolean' ? Number(value) : value;
}
