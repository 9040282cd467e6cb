import type { Score } from '#contracts';

/** The values of a replay by metric; what was not measured is not there, and the last trace's value counts. */
export function measuredScores(scores: readonly Score[]): Record<string, number> {
  return Object.fromEntries(
    scores.flatMap(({ metric, status, value }) => (status === 'scored' && value !== null ? [[metric, value]] : [])),
  );
}
