import type { Arm } from './assignment.js';
import { countSession, liveEvidence, noSessions, type LiveBets, type LiveCounts, type LogEvidence } from './live-e-process.js';
import { countPair, noPairs, pairedEvidence, type PairSums } from './paired-e-process.js';

/**
 * One thing that a trial counts. Differences (`delta`) are of one metric, the score with the rule less the score without.
 * - `session`: a live session whose outcome is known, and so are those of all sessions that entered before it;
 * - `pair`: a failure case, run with and without the rule, by its target metric;
 * - `win_pair`: a win case, run with and without the rule, by every metric that both runs have.
 */
export type Observation =
  | { readonly kind: 'session'; readonly arm: Arm; readonly breached: boolean }
  | { readonly kind: 'pair'; readonly delta: number }
  | { readonly kind: 'win_pair'; readonly caseId: string; readonly deltas: Readonly<Record<string, number>> };

/** What a trial keeps: plain data of a fixed size but for the metrics and cases of wins. */
export interface TrialState {
  /** Of the whole trial. Another allocation is another trial. */
  readonly allocation: number;
  readonly sessions: LiveCounts;
  readonly pairs: PairSums;
  /** By metric. */
  readonly wins: Readonly<Record<string, PairSums>>;
  /** Counted pairs by win case. */
  readonly winCases: Readonly<Record<string, number>>;
}

export function beginTrial(allocation: number): TrialState {
  return { allocation, sessions: noSessions, pairs: noPairs, wins: {}, winCases: {} };
}

/** The state after one more observation. Its cost does not depend on how many there were. */
export function observe(state: TrialState, observation: Observation): TrialState {
  switch (observation.kind) {
    case 'session':
      return { ...state, sessions: countSession(state.sessions, observation.arm, observation.breached) };
    case 'pair':
      return { ...state, pairs: countPair(state.pairs, observation.delta) };
    case 'win_pair':
      return observeWin(state, observation.caseId, observation.deltas);
    default:
      return observation satisfies never;
  }
}

function observeWin(state: TrialState, caseId: string, deltas: Readonly<Record<string, number>>): TrialState {
  if (Object.keys(deltas).length === 0) return state;
  const wins = new Map(Object.entries(state.wins));
  for (const [metric, delta] of Object.entries(deltas)) wins.set(metric, countPair(wins.get(metric) ?? noPairs, delta));
  const winCases = new Map(Object.entries(state.winCases));
  winCases.set(caseId, (winCases.get(caseId) ?? 0) + 1);
  return { ...state, wins: Object.fromEntries(wins), winCases: Object.fromEntries(winCases) };
}

export interface TrialEvidence {
  readonly live: LogEvidence;
  readonly replay: LogEvidence;
  /** Independent sources multiply, so their logarithms add. */
  readonly total: LogEvidence;
}

/** @param bets those of the state's allocation: {@link liveBets} */
export function evidenceOf({ sessions, pairs }: TrialState, bets: LiveBets): TrialEvidence {
  const live = liveEvidence(sessions, bets);
  const replay = pairedEvidence(pairs);
  return { live, replay, total: { help: live.help + replay.help, harm: live.harm + replay.harm } };
}

/** Log e-values for harm on wins, by metric. */
export function winHarm({ wins }: TrialState): Record<string, number> {
  return Object.fromEntries(Object.entries(wins).map(([metric, sums]) => [metric, pairedEvidence(sums).harm]));
}

export function countedSessions({ treatment, control }: LiveCounts): number {
  return treatment.sessions + control.sessions;
}

/** Breach rate of control less that of treatment: positive when the rule helps. Null while an arm is empty. */
export function liveEffect({ treatment, control }: LiveCounts): number | null {
  if (treatment.sessions === 0 || control.sessions === 0) return null;
  return control.breached / control.sessions - treatment.breached / treatment.sessions;
}

/** Mean difference over failure pairs: positive when the rule helps. Null without a pair. */
export function replayEffect({ pairs, deltaSum }: PairSums): number | null {
  return pairs === 0 ? null : deltaSum / pairs;
}
