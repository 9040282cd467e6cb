import type { LogEvidence } from './live-e-process.js';
import { logMeanExp } from './log-mean-exp.js';

/** Scales of the bet: the larger, the sooner a small difference counts fully. */
const SCALES = [1, 2, 4, 8, 16, 32, 64];

/** Sums over pairs. `help` and `harm` hold one log wealth per scale. */
export interface PairSums {
  readonly pairs: number;
  readonly deltaSum: number;
  readonly help: readonly number[];
  readonly harm: readonly number[];
}

const nothing = SCALES.map(() => 0);
export const noPairs: PairSums = { pairs: 0, deltaSum: 0, help: nothing, harm: nothing };

/**
 * @param delta score with the rule less score without, from -1 to 1
 * @throws RangeError for another difference
 */
export function countPair(sums: PairSums, delta: number): PairSums {
  if (!(Math.abs(delta) <= 1)) throw new RangeError(`delta: from -1 to 1 is needed, not ${delta}`);
  return {
    pairs: sums.pairs + 1,
    deltaSum: sums.deltaSum + delta,
    help: addBets(sums.help, delta),
    harm: addBets(sums.harm, -delta),
  };
}

/** The factor of a pair at scale h is 2 / (1 + exp(-2 h d)): with runs that could be exchanged, d and -d are equally likely, and its mean is 1. */
function addBets(logs: readonly number[], delta: number): number[] {
  return SCALES.map((scale, at) => (logs[at] ?? 0) + Math.LN2 - Math.log1p(Math.exp(-2 * scale * delta)));
}

/** The e-process of paired runs: the mean over the scales of their wealth. */
export function pairedEvidence({ help, harm }: PairSums): LogEvidence {
  return { help: logMeanExp(help, itself), harm: logMeanExp(harm, itself) };
}

function itself(log: number): number {
  return log;
}
