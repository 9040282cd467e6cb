import type { Condition, Report, ReportScore, Score, Tier, TraceSignal } from '#contracts';
import {
  signatureOf,
  standingSignatures,
  thresholdOf,
  type Evidence,
  type FiredCondition,
  type GateConfig,
  type TurnVerdict,
} from '../gate/index.js';

/** What is known of a turn apart from its scores. */
export interface TurnFacts {
  readonly session: string;
  readonly turn: number;
  /** JetStream's time of `turn.ended`, microseconds since the epoch; the same on every redelivery. */
  readonly acceptedAt: number;
  readonly partial: boolean;
  readonly skipped: string | null;
  readonly signals: readonly TraceSignal[];
}

const ORDER: readonly Condition[] = ['breach', 'stall', 'regression'];
const TIERS: readonly Tier[] = [0, 1, 2, 3];

/** Whether every tier that the fold asks for has answered: only then is there a report. */
export function isAnswered(verdict: TurnVerdict, evidence: Evidence): boolean {
  return verdict.asked.every((tier) => evidence[tier] !== undefined);
}

/** The report of a turn (BEHAVIOUR 3), without its revision. Scores of tiers that the fold does not ask for are left out. */
export function buildReport(
  facts: TurnFacts,
  evidence: Evidence,
  verdict: TurnVerdict,
  config: GateConfig,
): Omit<Report, 'revision'> {
  const scores = TIERS.filter((tier) => verdict.asked.includes(tier)).flatMap((tier) =>
    (evidence[tier]?.scores ?? []).map((one) => reportScore(one, tier, verdict.fired, config)),
  );
  const signatures = standingSignatures(verdict.after);
  return {
    session_id: facts.session,
    turn_index: facts.turn,
    accepted_at: facts.acceptedAt,
    complete: verdict.asked.every((tier) => evidence[tier]?.pending === false),
    partial: facts.partial,
    skipped: facts.skipped,
    severity: severityOf(verdict.fired, signatures),
    signatures,
    fired: [...new Set(verdict.fired.map(signatureOf))].sort(),
    flagged_traces: flaggedTraces(scores, signatures),
    scores,
    signals: facts.signals
      .filter(({ failing_tools, error }) => failing_tools.length > 0 || error !== null)
      .map(({ trace_id, failing_tools, error }) => ({ trace_id, failing_tools, error })),
  };
}

/**
 * Field by field: facts that were stored come back with their fields in another order, and the same facts must give the same
 * report to the letter, or every refold would publish revisions that say nothing new.
 */
function reportScore(score: Score, tier: Tier, fired: readonly FiredCondition[], config: GateConfig): ReportScore {
  const own = fired
    .filter((one) => one.tier === tier && one.metric === score.metric && one.traceId === score.trace_id)
    .map((one) => one.condition);
  const { metric, trace_id, status, value, source, evaluator, reason, code, spans } = score;
  return {
    ...{ metric, trace_id, status, value, source, evaluator, reason, code, spans },
    tier,
    threshold: thresholdOf(config, metric),
    conditions: ORDER.filter((condition) => own.includes(condition)),
  };
}

/** `breach` when any score breached in this turn, `trend` when something else fired or still stands, null when all is well. */
function severityOf(fired: readonly FiredCondition[], signatures: readonly string[]): Report['severity'] {
  if (fired.some(({ condition }) => condition === 'breach')) return 'breach';
  return fired.length > 0 || signatures.length > 0 ? 'trend' : null;
}

/** Scores that alert: those that fired, or, when nothing fired, those whose metric has a problem that still stands. */
export function alertingScores<S extends Pick<ReportScore, 'metric' | 'conditions'>>(
  scores: readonly S[],
  signatures: readonly string[],
): S[] {
  const fired = scores.filter(({ conditions }) => conditions.length > 0);
  if (fired.length > 0) return fired;
  const metrics = new Set(signatures.map((signature) => signature.slice(signature.indexOf(':') + 1)));
  return scores.filter(({ metric }) => metrics.has(metric));
}

/** Traces of alerting scores, without repeats, in order. */
function flaggedTraces(scores: readonly ReportScore[], signatures: readonly string[]): string[] {
  const ids = alertingScores(scores, signatures).map(({ trace_id }) => trace_id);
  return [...new Set(ids.filter((id) => id !== null))];
}

/** Whether a report says anything about health: one with only pending, failed, not-applicable or skipped scores changes nothing. */
export function isMeasured({ scores }: Pick<Report, 'scores'>): boolean {
  return scores.some(({ status }) => status === 'scored');
}
