import { quantileSorted } from 'simple-statistics';

export const QUANTILES = [0.05, 0.25, 0.5, 0.75, 0.95] as const;

export interface Separation {
  /** At QUANTILES. */
  readonly matched: readonly number[];
  readonly beside: readonly number[];
  /** The chance that a matched pair is nearer than one that is not, ties counting half: 0.5 is guessing. */
  readonly auc: number;
  /** The threshold with the largest difference between the two shares at or above it (Youden's J), and the two shares. */
  readonly best: { readonly threshold: number; readonly matched: number; readonly beside: number };
}

export function separation(matched: readonly number[], beside: readonly number[]): Separation {
  return { matched: quantiles(matched), beside: quantiles(beside), ...roc(matched, beside) };
}

export function quantile(values: readonly number[], share: number): number {
  return quantileSorted(
    [...values].sort((a, b) => a - b),
    share,
  );
}

function quantiles(values: readonly number[]): number[] {
  return QUANTILES.map((share) => quantile(values, share));
}

/** Walks the thresholds from above; the area is summed in trapezoids, so that ties count half. */
function roc(matched: readonly number[], beside: readonly number[]): Pick<Separation, 'auc' | 'best'> {
  const thresholds = [...new Set([...matched, ...beside])].sort((a, b) => b - a);
  let auc = 0;
  let before = { matched: 0, beside: 0 };
  let best = { threshold: Number.NaN, matched: 0, beside: 0 };
  for (const threshold of thresholds) {
    const at = { threshold, matched: shareAtLeast(matched, threshold), beside: shareAtLeast(beside, threshold) };
    auc += ((at.beside - before.beside) * (at.matched + before.matched)) / 2;
    if (at.matched - at.beside > best.matched - best.beside) best = at;
    before = at;
  }
  return { auc, best };
}

function shareAtLeast(values: readonly number[], threshold: number): number {
  return values.filter((value) => value >= threshold).length / values.length;
}
