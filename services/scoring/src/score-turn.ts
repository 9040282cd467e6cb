import type { Score, Tier, Trace, TraceSignal, Turn } from '#contracts';
import { answerText, runCheck, traceSignal } from '#domain/checks';
import { metricsOfTier, type GateConfig } from '#domain/gate';

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
    metricsOfTier(config, tier).map((metric) => bounded(runCheck(metric, trace, { turn, earlierAnswers }))),
  );
}

/** Spans at fault that a score names: enough to look at, and a thousand failing calls still make a small message. */
const SPANS_NAMED = 50;

function bounded(score: Score): Score {
  return score.spans.length <= SPANS_NAMED ? score : { ...score, spans: score.spans.slice(0, SPANS_NAMED) };
}

export function signalsOf(turn: Turn): TraceSignal[] {
  return (turn.traces ?? []).map(traceSignal).filter(({ failing_tools, error }) => failing_tools.length > 0 || error !== null);
}

/** Whether any tier looks back at earlier answers. */
export function looksBack(config: GateConfig): boolean {
  return ([1, 2, 3] as const).some((tier) => metricsOfTier(config, tier).includes('loop_detection'));
}

export { answerText };
