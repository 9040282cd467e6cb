import type { Arm } from './assignment.js';
import { logMeanExp } from './log-mean-exp.js';

export interface ArmCounts {
  readonly sessions: number;
  /** Of these, the sessions with outcome 1. */
  readonly breached: number;
}

/** All that the live evidence needs of any number of sessions. */
export type LiveCounts = Readonly<Record<Arm, ArmCounts>>;

export const noSessions: LiveCounts = { treatment: { sessions: 0, breached: 0 }, control: { sessions: 0, breached: 0 } };

export function countSession(counts: LiveCounts, arm: Arm, breached: boolean): LiveCounts {
  const { sessions, breached: before } = counts[arm];
  return { ...counts, [arm]: { sessions: sessions + 1, breached: before + (breached ? 1 : 0) } };
}

/** Natural logarithms of what one session of each kind multiplies a hypothesis's wealth by. */
interface Bet {
  readonly treatmentBreached: number;
  readonly treatmentClear: number;
  readonly controlBreached: number;
  readonly controlClear: number;
}

/** The bets of every hypothesis, on the rule helping and on the rule harming. Depends on the allocation alone. */
export interface LiveBets {
  readonly help: readonly Bet[];
  readonly harm: readonly Bet[];
}

/** A log e-value for `the rule helps` and one for `the rule harms`; both are 0 before the first observation. */
export interface LogEvidence {
  readonly help: number;
  readonly harm: number;
}

/** Hypotheses: a breach rate without the rule, and the part of it that the rule leaves. Powers of detection depend on them, validity does not. */
const BREACH_RATES = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];
const REMAINING = [0.1, 0.25, 0.4, 0.55, 0.7, 0.85];

/**
 * @param allocation share of sessions in treatment, strictly between 0 and 1
 * @throws RangeError for another allocation: without two arms there is nothing to compare
 */
export function liveBets(allocation: number): LiveBets {
  if (!(allocation > 0 && allocation < 1)) throw new RangeError(`allocation: between 0 and 1 is needed, not ${allocation}`);
  const pairs = BREACH_RATES.flatMap((rate) => REMAINING.map((part) => ({ higher: rate, lower: rate * part })));
  return {
    help: pairs.map(({ higher, lower }) => bet(allocation, lower, higher)),
    harm: pairs.map(({ higher, lower }) => bet(allocation, higher, lower)),
  };
}

/**
 * A bet on the arm given the outcome: with q the posterior of treatment, the factors q / a and (1 - q) / (1 - a), written without
 * their common divisor, so that no allocation loses digits.
 */
function bet(allocation: number, treated: number, control: number): Bet {
  const breached = Math.log(allocation * treated + (1 - allocation) * control);
  const clear = Math.log(allocation * (1 - treated) + (1 - allocation) * (1 - control));
  return {
    treatmentBreached: Math.log(treated) - breached,
    treatmentClear: Math.log(1 - treated) - clear,
    controlBreached: Math.log(control) - breached,
    controlClear: Math.log(1 - control) - clear,
  };
}

/**
 * The e-process of a live trial: the mean over the hypotheses of their wealth. A wealth is a product over sessions of four
 * possible factors, so it follows from the counts: exact for any number of sessions, and the same in any order.
 */
export function liveEvidence(counts: LiveCounts, bets: LiveBets): LogEvidence {
  return { help: logWealth(counts, bets.help), harm: logWealth(counts, bets.harm) };
}

/**
 * Whether the evidence, either way, could have reached a bound: a mean is at most its largest part, which is found much faster.
 * For whoever looks at very many trials.
 */
export function mayReach(counts: LiveCounts, { help, harm }: LiveBets, bound: number): boolean {
  const logOf = wealthAfter(counts);
  return help.some((one) => logOf(one) >= bound) || harm.some((one) => logOf(one) >= bound);
}

function logWealth(counts: LiveCounts, bets: readonly Bet[]): number {
  return logMeanExp(bets, wealthAfter(counts));
}

/** The log wealth of one hypothesis. */
function wealthAfter({ treatment, control }: LiveCounts): (bet: Bet) => number {
  const treatmentClear = treatment.sessions - treatment.breached;
  const controlClear = control.sessions - control.breached;
  return (one) =>
    treatment.breached * one.treatmentBreached +
    treatmentClear * one.treatmentClear +
    control.breached * one.controlBreached +
    controlClear * one.controlClear;
}
