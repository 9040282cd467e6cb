import { hasImproved, hasRegressed, type Margins } from './margins.js';
import { answeredMetrics, metricOf, type RuleTarget } from './signatures.js';

export interface ReplayableCase {
  readonly id: string;
  readonly kind: 'failure' | 'win';
  readonly signature: readonly string[];
  readonly baseline: Readonly<Record<string, number>>;
  readonly replayable: boolean;
}

/** How a run of a case with the candidate visible ended. `read`: its answers held the candidate before it ended. */
export type Run =
  | { readonly result: 'scored'; readonly read: boolean; readonly scores: Readonly<Record<string, number>> }
  /** It raised, hung, or could not be scored. */
  | { readonly result: 'failed'; readonly read: boolean }
  /** Its environment never came, within the budget for waiting. */
  | { readonly result: 'not_started'; readonly read: boolean };

export interface ReplayedCase {
  readonly case: ReplayableCase;
  readonly run: Run;
}

export interface CaseOutcome {
  readonly case_id: string;
  readonly outcome: 'scored' | 'candidate_not_exercised' | 'inconclusive' | 'env_wait_timeout';
  readonly surfaced: boolean;
  /** Replay less baseline, by shared metric. */
  readonly deltas: Readonly<Record<string, number>>;
}

export interface ReplayVerdict {
  readonly validator: 'replay';
  readonly outcome: 'promote' | 'retire' | 'pending';
  readonly pending_reason:
    'no_matching_replayable_case' | 'env_wait_timeout' | 'candidate_not_exercised' | 'replay_inconclusive' | null;
  readonly reason: string;
  readonly case_outcomes: readonly CaseOutcome[];
  /** Runs that were not scored, the unexercised among them. */
  readonly inconclusive: number;
  readonly unexercised: number;
}

const FAILURES = 3;
const WINS = 2;

/** The cases that a validation replays, of cases given newest first: failures that match the rule, then wins. None without a failure. */
export function chooseCases<Case extends ReplayableCase>(newestFirst: readonly Case[], targets: readonly string[]): Case[] {
  const replayable = newestFirst.filter((one) => one.replayable);
  const failures = replayable
    .filter(({ kind, signature }) => kind === 'failure' && signature.some((one) => targets.includes(one)))
    .slice(0, FAILURES);
  return failures.length === 0 ? [] : [...failures, ...replayable.filter(({ kind }) => kind === 'win').slice(0, WINS)];
}

export function caseOutcome({ case: { id, baseline }, run }: ReplayedCase): CaseOutcome {
  const { result, read: surfaced } = run;
  if (result !== 'scored') {
    const outcome = result === 'failed' ? 'inconclusive' : 'env_wait_timeout';
    return { case_id: id, outcome, surfaced, deltas: {} };
  }
  const shared = Object.entries(run.scores).filter(([metric]) => Object.hasOwn(baseline, metric));
  const deltas = Object.fromEntries(shared.map(([metric, value]) => [metric, value - (baseline[metric] ?? 0)]));
  const outcome = shared.length === 0 ? 'inconclusive' : surfaced ? 'scored' : 'candidate_not_exercised';
  return { case_id: id, outcome, surfaced, deltas };
}

/** Candidates for the target metric of a case, the first measured one counts. `newest`: the newest failure case that is replayed. */
export function targetMetrics({ metric }: RuleTarget, newest: ReplayableCase | undefined): string[] {
  const [signature] = newest?.signature ?? [];
  const own = signature === undefined ? null : metricOf(signature);
  return ['outcome_correct', metric, own].filter((one) => one !== null);
}

/** Method `threshold` on replays (BEHAVIOUR 11), the seed's: one run each against the score at capture. */
export function replayVerdict(rule: RuleTarget, replayed: readonly ReplayedCase[], margins: Margins): ReplayVerdict {
  const outcomes = replayed.map(caseOutcome);
  const counted = replayed.flatMap((one, at) => {
    const outcome = outcomes[at];
    return outcome?.outcome === 'scored' ? [{ kind: one.case.kind, ...outcome }] : [];
  });
  const answer = (
    outcome: ReplayVerdict['outcome'],
    pending: ReplayVerdict['pending_reason'],
    reason: string,
  ): ReplayVerdict => ({
    validator: 'replay',
    outcome,
    pending_reason: pending,
    reason,
    case_outcomes: outcomes,
    inconclusive: outcomes.filter((one) => one.outcome !== 'scored').length,
    unexercised: outcomes.filter((one) => one.outcome === 'candidate_not_exercised').length,
  });
  if (replayed.length === 0) return answer('pending', 'no_matching_replayable_case', 'no replayable eval case matches the rule');
  const fall = firstFall(counted, answeredMetrics(rule), margins);
  if (fall !== undefined) return answer('retire', null, `case ${fall.case_id} fell on ${fall.metric}`);
  const failures = counted.filter(({ kind }) => kind === 'failure');
  if (failures.length === 0) return answer('pending', whyInconclusive(outcomes), 'no failure case could be compared');
  const targets = targetMetrics(rule, replayed.find((one) => one.case.kind === 'failure')?.case);
  const improved = failures.find(({ deltas }) => improves(deltas, targets, margins));
  if (improved !== undefined) return answer('promote', null, `case ${improved.case_id} improved`);
  return answer('retire', null, `no improvement on ${failures.map((one) => one.case_id).join(', ')}`);
}

interface Counted extends CaseOutcome {
  readonly kind: 'failure' | 'win';
}

/** On a win any metric may not fall; on a failure only those that the rule answers for. */
function firstFall(counted: readonly Counted[], answered: readonly string[], margins: Margins) {
  return counted
    .flatMap(({ case_id, kind, deltas }) =>
      Object.entries(deltas).map(([metric, delta]) => ({
        case_id,
        metric,
        delta,
        guarded: kind === 'win' || answered.includes(metric),
      })),
    )
    .find(({ guarded, delta }) => guarded && hasRegressed(delta, margins.rule_regress_margin));
}

/** The target metric decides; where none of its candidates was measured, any metric may. */
function improves(deltas: Readonly<Record<string, number>>, targets: readonly string[], margins: Margins): boolean {
  const target = targets.find((metric) => Object.hasOwn(deltas, metric));
  const looked = target === undefined ? Object.values(deltas) : [deltas[target] ?? 0];
  return looked.some((delta) => hasImproved(delta, margins.rule_promote_margin));
}

function whyInconclusive(outcomes: readonly CaseOutcome[]): ReplayVerdict['pending_reason'] {
  const count = (outcome: CaseOutcome['outcome']): number => outcomes.filter((one) => one.outcome === outcome).length;
  const [waiting, unexercised] = [count('env_wait_timeout'), count('candidate_not_exercised')];
  if (waiting > 0 && waiting >= unexercised) return 'env_wait_timeout';
  return unexercised > 0 ? 'candidate_not_exercised' : 'replay_inconclusive';
}
