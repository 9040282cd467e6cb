/** How verdicts agree with labels. Positive: the session failed; a true positive is a failed session that alerted. */
export interface Confusion {
  readonly tp: number;
  readonly fp: number;
  readonly tn: number;
  readonly fn: number;
}

/** In [0, 1]. A ratio without a denominator is 0: nothing that alerted is no evidence of precision. */
export interface Ratios {
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

/** Counts (alerted, failed) pairs. */
export function confusionOf(pairs: Iterable<readonly [alerted: boolean, failed: boolean]>): Confusion {
  const counts = { tp: 0, fp: 0, tn: 0, fn: 0 };
  for (const [alerted, failed] of pairs) counts[alerted ? (failed ? 'tp' : 'fp') : failed ? 'fn' : 'tn'] += 1;
  return counts;
}

/** Precision tp / (tp + fp), recall tp / (tp + fn), F1 their harmonic mean. */
export function ratiosOf({ tp, fp, fn }: Confusion): Ratios {
  const precision = ratio(tp, tp + fp);
  const recall = ratio(tp, tp + fn);
  return { precision, recall, f1: ratio(2 * precision * recall, precision + recall) };
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}
