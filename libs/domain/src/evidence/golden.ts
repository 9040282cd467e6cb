import { armOf, assignmentDraw, type Arm } from './assignment.js';
import { liveBets } from './live-e-process.js';
import { beginTrial, evidenceOf, observe, type Observation } from './trial.js';

/** A line of the golden file `evidence`, by kind. */
export interface LiveLine {
  readonly allocation: number;
  readonly observations: readonly { readonly arm: Arm; readonly breached: boolean }[];
}
export interface PairsLine {
  readonly deltas: readonly number[];
}
export interface ArmLine {
  readonly ruleId: string;
  readonly sessionId: string;
  readonly salt: string;
  readonly allocation: number;
}

/** Natural logarithms after each observation. */
export interface EvidenceAnswer {
  readonly logE: readonly number[];
  readonly logEHarm: readonly number[];
}

export function answerLiveLine({ allocation, observations }: LiveLine): EvidenceAnswer {
  return traceEvidence(
    observations.map(({ arm, breached }) => ({ kind: 'session', arm, breached })),
    allocation,
  );
}

export function answerPairsLine({ deltas }: PairsLine): EvidenceAnswer {
  return traceEvidence(deltas.map((delta) => ({ kind: 'pair', delta })));
}

export function answerArmLine({ allocation, ...assignment }: ArmLine): { u: number; arm: Arm } {
  return { u: assignmentDraw(assignment), arm: armOf(assignment, allocation) };
}

/** An even allocation, for observations among which there is no session. */
const EVEN = 0.5;

/** Both logarithms of the total evidence, after each observation. */
export function traceEvidence(observations: readonly Observation[], allocation = EVEN): EvidenceAnswer {
  const bets = liveBets(allocation);
  let state = beginTrial(allocation);
  const totals = observations.map((one) => {
    state = observe(state, one);
    return evidenceOf(state, bets).total;
  });
  return { logE: totals.map(({ help }) => help), logEHarm: totals.map(({ harm }) => harm) };
}

const TOLERANCE = 1e-9;

/** The answer with the right values wherever its own are within 1e-9 of them: for an exact comparison. */
export function withinTolerance(answer: EvidenceAnswer, right: EvidenceAnswer): EvidenceAnswer {
  const near = (ours: readonly number[], theirs: readonly number[]): number[] =>
    ours.map((value, at) => {
      const other = theirs[at];
      return other !== undefined && Math.abs(value - other) <= TOLERANCE ? other : value;
    });
  return { logE: near(answer.logE, right.logE), logEHarm: near(answer.logEHarm, right.logEHarm) };
}
