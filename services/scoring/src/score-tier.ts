import type { Score, Tier, Trace, TraceSignal, Turn } from '#contracts';
import { EVALUATOR, runCheck, traceSignal, type CheckContext } from '#domain/checks';
import { metricsOfTier, type GateConfig } from '#domain/gate';
import { HOST_VERSION, sourceOf, waitingPlace, type Lane, type MetricEvaluator } from '#domain/scoring';
import { boundedScore } from './bounded-score.js';
import type { TurnConfig } from './turn-config.js';

/** A value that somebody sent: the host in the turn itself, or a verifier or host later. `trace` is empty for the whole turn. */
export interface SentScore {
  readonly metric: string;
  readonly trace: string;
  readonly value: number | null;
  readonly reason: string | null;
}

/** A score as it is known when its tier is asked for; `place` is where it waits for its evaluator, null when nobody is asked. */
export interface TierScore {
  readonly score: Score;
  readonly place: { readonly lane: Lane; readonly provider: string } | null;
}

export interface TierContext {
  /** Answer texts of up to three turns before, newest first. */
  readonly earlierAnswers: readonly string[];
  readonly sent: readonly SentScore[];
}

/** Which traces of a turn a tier looks at: all for tier 1, the last one for the costlier tiers. */
export function tracesOf(turn: Turn, tier: Exclude<Tier, 0>): readonly Trace[] {
  const traces = turn.traces ?? [];
  return tier === 1 ? traces : traces.slice(-1);
}

/** The scores of one tier of a turn: those of the whole turn first, then in trace order. */
export function scoreTier(
  turn: Turn,
  tier: Exclude<Tier, 0>,
  config: TurnConfig,
  { earlierAnswers, sent }: TierContext,
): TierScore[] {
  const metrics = metricsOfTier(config, tier).map((metric) => ({ metric, evaluator: evaluatorOf(metric, config) }));
  const ofTurn = metrics.flatMap(({ metric, evaluator }) => {
    const value = evaluator.hostFirst ? sent.find((one) => one.metric === metric && one.trace === '') : undefined;
    return value === undefined ? [] : [{ score: sentScore(value), place: null }];
  });
  const settled = new Set(ofTurn.map(({ score }) => score.metric));
  const ofTraces = tracesOf(turn, tier).flatMap((trace) =>
    metrics.flatMap(({ metric, evaluator }) => {
      const value = evaluator.hostFirst ? sent.find((one) => one.metric === metric && one.trace === trace.trace_id) : undefined;
      if (value !== undefined) return [{ score: sentScore(value), place: null }];
      return settled.has(metric) ? [] : [askedScore(metric, trace, evaluator, { turn, earlierAnswers })];
    }),
  );
  return [...ofTurn, ...ofTraces];
}

/** A turn that was stored before there were judges is scored as it was then. */
export function evaluatorOf(metric: string, config: TurnConfig): MetricEvaluator {
  return config.scoring?.evaluators[metric] ?? { kind: 'check', version: EVALUATOR, hostFirst: false };
}

export function sentScore({ metric, trace, value, reason }: SentScore): Score {
  const common = { metric, trace_id: trace === '' ? null : trace, source: 'host', evaluator: HOST_VERSION, spans: [] };
  if (value !== null && !(value >= 0 && value <= 1))
    return {
      ...common,
      status: 'failed',
      value: null,
      code: 'out_of_range',
      reason: `${value} was sent, which is not in [0, 1].`,
    };
  return boundedScore({ ...common, status: value === null ? 'not_applicable' : 'scored', value, reason, code: null });
}

function askedScore(metric: string, trace: Trace, evaluator: MetricEvaluator, context: CheckContext): TierScore {
  const { kind, version } = evaluator;
  if (kind === 'check' || kind === 'none') return { score: boundedScore(checked(metric, trace, context)), place: null };
  const common = { metric, trace_id: trace.trace_id, value: null, source: sourceOf(metric, kind), evaluator: version, spans: [] };
  if (kind === 'host') {
    const reason = 'The host has not sent a value.';
    return { score: { ...common, status: 'not_applicable', code: 'not_sent', reason }, place: null };
  }
  const place = waitingPlace(metric, evaluator);
  if (place !== null) return { score: { ...common, status: 'pending', code: null, reason: null }, place };
  const setting = kind === 'judge' ? 'judge_model' : 'embedding_model';
  const reason = `This metric is set to be made by a model, and ${setting} is not set.`;
  return { score: { ...common, status: 'pending', code: 'no_model', reason }, place };
}

/** A check that throws fails its own score: a tier that was asked for is always answered, since the session waits for it. */
function checked(metric: string, trace: Trace, context: CheckContext): Score {
  try {
    return runCheck(metric, trace, context);
  } catch (error) {
    const reason = `The check failed: ${error instanceof Error ? error.message : String(error)}`;
    const failure = { status: 'failed', value: null, source: 'check', evaluator: EVALUATOR, code: 'check_failed' } as const;
    return { metric, trace_id: trace.trace_id, ...failure, reason, spans: [] };
  }
}

export function signalsOf(turn: Turn): TraceSignal[] {
  return (turn.traces ?? []).map(traceSignal).filter(({ failing_tools, error }) => failing_tools.length > 0 || error !== null);
}

/** Whether any tier looks back at earlier answers. */
export function looksBack(config: GateConfig): boolean {
  return ([1, 2, 3] as const).some((tier) => metricsOfTier(config, tier).includes('loop_detection'));
}
