import type { Score, Tier, Trace, TraceSignal, Turn } from '#contracts';
import { answerText, EVALUATOR, runCheck, traceSignal, type CheckContext } from '#domain/checks';
import { metricsOfTier, type GateConfig } from '#domain/gate';
import { boundedScore } from './bounded-score.js';

/** Which traces of a turn a tier looks at: all for tier 1, the last one for the costlier tiers. */
function tracesOf(turn: Turn, tier: Exclude<Tier, 0>): readonly Trace[] {
  const traces = turn.traces ?? [];
  return tier === 1 ? traces : traces.slice(-1);
}

/**
 * The scores of one tier of a turn, in trace order. `earlierAnswers`: answer texts of up to three turns before, newest first.
 */
export function scoreTier(turn: Turn, tier: Exclude<Tier, 0>, config: GateConfig, earlierAnswers: readonly string[]): Score[] {
  return tracesOf(turn, tier).flatMap((trace) =>
    metricsOfTier(config, tier).map((metric) => boundedScore(scoreOf(metric, trace, { turn, earlierAnswers }))),
  );
}

/** A check that throws fails its own score: a tier that was asked for is always answered, since the session waits for it. */
function scoreOf(metric: string, trace: Trace, context: CheckContext): Score {
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

export { answerText };
