/** Score or rate that has to be gained, and lost, for a change to count. */
export interface Margins {
  readonly rule_promote_margin: number;
  readonly rule_regress_margin: number;
}

// On raw doubles in these forms: 0.30 to 0.35 is less than 0.05, 0.50 to 0.55 is not. An unchanged score is neither, also with a margin of 0.

export function hasImproved(delta: number, margin: number): boolean {
  return delta >= margin && delta > 0;
}

export function hasRegressed(delta: number, margin: number): boolean {
  return delta <= -margin && delta < 0;
}

export type RegressionStatus = 'improved' | 'unchanged' | 'regressed';

/** What a regression run says of one case, from its changes by metric (replay less baseline). A regression wins over an improvement. */
export function regressionStatus(deltas: Readonly<Record<string, number>>, margins: Margins): RegressionStatus {
  const changes = Object.values(deltas);
  if (changes.some((delta) => hasRegressed(delta, margins.rule_regress_margin))) return 'regressed';
  return changes.some((delta) => hasImproved(delta, margins.rule_promote_margin)) ? 'improved' : 'unchanged';
}
