import {
  baselineOf,
  baselineRate,
  forwardVerdict,
  noTrial,
  observeReport,
  trialRate,
  type JournaledEvent,
  type SessionReport,
} from './forward-trial.js';
import { regressionStatus, type Margins, type RegressionStatus } from './margins.js';
import { chooseCases, replayVerdict, type ReplayableCase, type ReplayVerdict, type Run } from './replay-verdict.js';
import { decideRound, mayReplay } from './round.js';
import { answeredMetrics, targetSignatures, type RuleTarget } from './signatures.js';

export interface ForwardLine {
  readonly config: { readonly rule_trial_min_sessions: number; readonly rule_promote_margin: number };
  readonly trial: { readonly observed: number; readonly breached: number } & Parameters<typeof baselineRate>[0];
}

export function answerForwardLine({ config, trial }: ForwardLine) {
  const baseline = baselineRate(trial);
  const { outcome, validator, pending_reason } = forwardVerdict(trial, baseline, config);
  return { baseline_rate: baseline, trial_rate: trialRate(trial), outcome, validator, pending_reason };
}

export interface ObserveLine {
  readonly config: { readonly rule_trial_min_sessions: number };
  readonly rule_metric: string | null;
  readonly reports: readonly SessionReport[];
}

export function answerObserveLine({ config, rule_metric: metric, reports }: ObserveLine) {
  let trial = noTrial;
  return { after_each: reports.map((one) => (trial = observeReport(trial, one, metric, config.rule_trial_min_sessions))) };
}

export interface BaselineLine {
  readonly rule_metric: string | null;
  readonly events: readonly JournaledEvent[];
}

export function answerBaselineLine({ rule_metric: metric, events }: BaselineLine) {
  const baseline = baselineOf(events, metric);
  return { baseline, baseline_rate: baselineRate(baseline) };
}

export interface RegressionLine {
  readonly config: Margins;
  readonly deltas: Readonly<Record<string, number>>;
}

export function answerRegressionLine({ config, deltas }: RegressionLine): { status: RegressionStatus } {
  return { status: regressionStatus(deltas, config) };
}

/** A case of the file, with how its replay ends. */
interface LineCase {
  readonly id: string;
  readonly created_at: string;
  readonly kind: 'failure' | 'win';
  readonly signature: readonly string[];
  readonly baseline_scores: Readonly<Record<string, number>>;
  readonly replayable: boolean;
  readonly replay: {
    readonly result: 'ok' | 'raise' | 'hang' | 'score_error' | 'not_started';
    readonly reads: boolean;
    readonly scores: Readonly<Record<string, number>>;
    /** The verifier's answer. */
    readonly outcome: number | boolean | null;
  };
}

export interface ReplayLine {
  readonly config: Margins;
  readonly rule: RuleTarget;
  readonly cases: readonly LineCase[];
}

export function answerReplayLine({ config, rule, cases }: ReplayLine) {
  const chosen = chosenCases(rule, cases);
  const verdict = verdictOn(rule, chosen, config);
  const none = chosen.length === 0;
  const { outcome, validator, pending_reason, case_outcomes } = verdict;
  return {
    ...{ outcome, validator, pending_reason, case_outcomes },
    replayed: chosen.map(({ id }) => id),
    inconclusive: none ? null : verdict.inconclusive,
    unexercised: none ? null : verdict.unexercised,
    retire_on: none ? null : answeredMetrics(rule),
    target_signatures: none ? targetSignatures(rule) : null,
  };
}

/** The cases that would be replayed, in the order of their replays. */
export function chosenCases(rule: RuleTarget, cases: readonly LineCase[]): (ReplayableCase & LineCase)[] {
  const newestFirst = [...cases].sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
  return chooseCases(
    newestFirst.map((one) => ({ ...one, baseline: one.baseline_scores })),
    targetSignatures(rule),
  );
}

function verdictOn(rule: RuleTarget, chosen: ReturnType<typeof chosenCases>, margins: Margins): ReplayVerdict {
  return replayVerdict(
    rule,
    chosen.map((one) => ({ case: one, run: runOf(one) })),
    margins,
  );
}

function runOf({ replay: { result, reads: read, scores, outcome } }: LineCase): Run {
  if (result === 'not_started') return { result, read };
  if (result !== 'ok') return { result: 'failed', read };
  return { result: 'scored', read, scores: outcome === null ? scores : { ...scores, outcome_correct: held(outcome) } };
}

/** A verifier's number or boolean, held to [0, 1]. */
function held(outcome: number | boolean): number {
  return Math.min(1, Math.max(0, Number(outcome)));
}

export interface EngineLine extends ReplayLine {
  readonly config: Margins & ForwardLine['config'] & { readonly validation_round_budget_s?: number };
  readonly trial: { readonly observed: number; readonly breached: number; readonly replay_attempts: number };
  readonly has_replay: boolean;
}

/** The file's rounds: two, or as many as it takes to decide. */
const ROUNDS = 2;
const STATUS = { promote: 'active', retire: 'retired', pending: 'candidate' } as const;

export function answerEngineLine({ config, rule, cases, trial, has_replay }: EngineLine) {
  const chosen = chosenCases(rule, cases);
  const forward = forwardVerdict(trial, 1, config);
  const budgetSpent = (config.validation_round_budget_s ?? 0) > 0;
  let attempts = trial.replay_attempts;
  let replays = 0;
  const rounds = [];
  for (let at = 0; at < ROUNDS; at += 1) {
    const tried = has_replay && mayReplay(attempts);
    const replay = !tried ? null : budgetSpent ? 'budget_spent' : verdictOn(rule, chosen, config);
    if (typeof replay === 'object' && replay !== null) replays += chosen.length;
    const decided = decideRound({ replay, forward, attempts });
    ({ attempts } = decided);
    const { outcome, validator, pending_reason } = decided.verdict;
    const verdicts = [{ outcome, validator, pending_reason }];
    rounds.push({ verdicts, status: STATUS[outcome], replay_attempts: attempts });
    if (outcome !== 'pending') break;
  }
  return { rounds, replays_run: replays };
}
