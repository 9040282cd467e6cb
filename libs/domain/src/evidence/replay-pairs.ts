import type { Observation } from './trial.js';

/** The cases that a candidate is replayed on, newest first, chosen once for its whole trial. */
export interface ChosenCases {
  readonly failures: readonly string[];
  readonly wins: readonly string[];
}

export type CaseKind = 'failure' | 'win';

/** After so many failure pairs a win is replayed. */
const FAILURES_PER_WIN = 2;

/**
 * The case of a candidate's n-th pair (from 1): round the failures in turn, and after every second one round the wins
 * (EVIDENCE, "Replays"). Null without a failure.
 */
export function caseOfPair(
  number: number,
  { failures, wins }: ChosenCases,
): { readonly id: string; readonly kind: CaseKind } | null {
  const round = wins.length === 0 ? 1 : FAILURES_PER_WIN + 1;
  const [rounds, place] = [Math.floor((number - 1) / round), (number - 1) % round];
  const isWin = wins.length > 0 && place === FAILURES_PER_WIN;
  const list = isWin ? wins : failures;
  const at = isWin ? rounds : wins.length === 0 ? number - 1 : rounds * FAILURES_PER_WIN + place;
  const id = list[at % Math.max(1, list.length)];
  return id === undefined ? null : { id, kind: isWin ? 'win' : 'failure' };
}

/** How a run ended. `surfaced`: it came to a read whose answer held the rule, or would have were it not withheld. */
export type RunEnd =
  | { readonly scores: Readonly<Record<string, number>>; readonly surfaced: boolean }
  | { readonly scores: null; readonly surfaced: boolean; readonly reason: 'env_wait_timeout' | 'replay_inconclusive' };

export type PairEnd =
  | { readonly counted: true; readonly observation: Observation; readonly deltas: Readonly<Record<string, number>> }
  | {
      readonly counted: false;
      readonly reason: 'env_wait_timeout' | 'candidate_not_exercised' | 'replay_inconclusive';
      readonly deltas: Readonly<Record<string, number>>;
    };

/**
 * What a pair says: the score with the rule less the score without. It counts when both runs were scored on a common metric and both
 * came to the rule; choosing by the treated run alone would promote placebos.
 * @param targets metrics, the first one that both runs have is compared on a failure; on a win all are
 */
export function judgePair(
  { kind, id }: { readonly kind: CaseKind; readonly id: string },
  runs: { readonly with: RunEnd; readonly without: RunEnd },
  targets: readonly string[],
): PairEnd {
  const both = [runs.with, runs.without];
  const broken = both.flatMap((run) => (run.scores === null ? [run.reason] : []));
  if (broken.includes('env_wait_timeout')) return { counted: false, reason: 'env_wait_timeout', deltas: {} };
  const deltas = differences(runs.with.scores ?? {}, runs.without.scores ?? {});
  if (both.some(({ scores, surfaced }) => scores !== null && !surfaced))
    return { counted: false, reason: 'candidate_not_exercised', deltas };
  if (kind === 'win' && broken.length === 0 && Object.keys(deltas).length > 0)
    return { counted: true, observation: { kind: 'win_pair', caseId: id, deltas }, deltas };
  const target = targets.find((metric) => Object.hasOwn(deltas, metric));
  if (kind === 'win' || broken.length > 0 || target === undefined)
    return { counted: false, reason: 'replay_inconclusive', deltas };
  return { counted: true, observation: { kind: 'pair', delta: deltas[target] ?? 0 }, deltas };
}

function differences(
  treated: Readonly<Record<string, number>>,
  control: Readonly<Record<string, number>>,
): Record<string, number> {
  const shared = Object.entries(treated).filter(([metric]) => Object.hasOwn(control, metric));
  return Object.fromEntries(shared.map(([metric, value]) => [metric, value - (control[metric] ?? 0)]));
}
