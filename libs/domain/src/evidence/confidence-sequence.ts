import { gammaln } from 'simple-statistics';
import type { ArmCounts, LiveCounts } from './live-e-process.js';

/** Both ends are inside. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Enough halvings of [0, 1] to reach neighbouring doubles around any rate above 1e-4. */
const HALVINGS = 64;

/**
 * Breach rates that the sessions of an arm do not contradict, at any time and however often one looks: with b breaches of n,
 * the p with Beta(b + 1, n - b + 1) / (p^b (1 - p)^(n - b)) < 1 / error (the beta-binomial mixture of Robbins 1970).
 * @param error the probability of ever missing the true rate, strictly between 0 and 1
 */
export function rateSequence({ sessions, breached }: ArmCounts, error: number): Interval {
  const clear = sessions - breached;
  const logMixture = gammaln(breached + 1) + gammaln(clear + 1) - gammaln(sessions + 2);
  const limit = Math.log(1 / error);
  const inside = (p: number): boolean => logMixture - logPower(p, breached) - logPower(1 - p, clear) < limit;
  const observed = sessions === 0 ? 0.5 : breached / sessions;
  return { low: edge(inside, observed, 0), high: edge(inside, observed, 1) };
}

/** ln(p^n), with 0^0 = 1. */
function logPower(p: number, n: number): number {
  return n === 0 ? 0 : n * Math.log(p);
}

/** The set is an interval around the observed rate: halve the way between a rate inside and the end of [0, 1]. */
function edge(inside: (p: number) => boolean, observed: number, end: 0 | 1): number {
  if (inside(end)) return end;
  let [within, without] = [observed, end as number];
  for (let at = 0; at < HALVINGS; at += 1) {
    const middle = (within + without) / 2;
    if (inside(middle)) within = middle;
    else without = middle;
  }
  // The outer side: an interval may be wider than needed, never narrower.
  return without;
}

/**
 * Confidence sequence of the effect, the breach rate of control less that of treatment: each arm's with half of the error.
 * Positive: the rule helps.
 */
export function effectSequence(counts: LiveCounts, error: number): Interval {
  const treatment = rateSequence(counts.treatment, error / 2);
  const control = rateSequence(counts.control, error / 2);
  return { low: control.low - treatment.high, high: control.high - treatment.low };
}

/** One trial in a thousand is called unbalanced wrongly, however often it is looked at. */
const MISMATCH_ERROR = 0.001;

/**
 * Whether the arms are not as large as their allocation says, more than chance explains: then one of them finds its way into
 * the trial more easily, and neither evidence nor effect mean anything.
 */
export function hasSampleRatioMismatch({ treatment, control }: LiveCounts, allocation: number): boolean {
  const entered = { sessions: treatment.sessions + control.sessions, breached: treatment.sessions };
  const { low, high } = rateSequence(entered, MISMATCH_ERROR);
  return allocation < low || allocation > high;
}
