import type { ProjectSettings } from '#contracts';
import { judgeNoise, type JudgeNoise } from '#domain/calibration';
import { gateConfig, gateSettings } from '#domain/gate';
import { promptHash } from '#judges';
import type { ModelError } from '#llm';
import { CommandError, exitCodes } from '../../exit-codes.js';
import type { Asked, Instrument, Readings } from './ask-again.js';
import type { Sample } from './sample-traces.js';

type GateOverride = ProjectSettings['gate_overrides'][string];

export interface NoiseReport {
  readonly metric: string;
  readonly model: string;
  readonly prompt_hash: string;
  readonly repeat: number;
  readonly judge_samples: number;
  readonly confirm_breach: boolean;
  readonly threshold: number;
  readonly traces: { readonly found: number; readonly sampled: number; readonly unreadable: number };
  readonly noise: JudgeNoise;
  /** `in_force`: null when the metric does not go through the gate. `override`: an entry of gate_overrides that is large enough. */
  readonly gate_drop: { readonly in_force: number | null; readonly override: Readonly<GateOverride> };
  readonly without_value: Readonly<Record<string, number>>;
  /** Traces that had a value at some times and none at others. */
  readonly unsteady: number;
  readonly unanswered: number;
  readonly usage: {
    readonly calls: number;
    readonly tokens_in: number;
    readonly tokens_out: number;
    readonly cost_usd: number | null;
  };
  readonly readings: readonly Readings[];
}

/** The judge whose noise is measured, and the settings that it is compared with. */
export interface MeasuredJudge {
  readonly model: string;
  readonly settings: ProjectSettings;
  readonly instrument: Instrument;
}

/** @throws CommandError 1 or 5 when no trace has two values */
export function reportOf(
  repeat: number,
  { model, settings, instrument }: MeasuredJudge,
  sample: Sample,
  asked: Asked,
): NoiseReport {
  const { metric, definition, threshold, samples, confirmBreach } = instrument;
  const { readings, unanswered, trouble, usage } = asked;
  const noise = judgeNoise(readings.map(({ values }) => ({ values, threshold })));
  const without = totals(readings.map(({ without_value: codes }) => codes));
  if (noise === null) throw nothingToCompare(metric, without, trouble);
  return {
    ...{ metric, model, prompt_hash: promptHash(metric, definition), repeat, threshold },
    ...{ judge_samples: samples, confirm_breach: confirmBreach },
    traces: { found: sample.found, sampled: sample.traces.length, unreadable: sample.unreadable },
    noise,
    gate_drop: dropOf(settings, metric, noise),
    ...{ without_value: without, unanswered },
    unsteady: readings.filter(({ values, without_value: codes }) => values.length > 0 && Object.keys(codes).length > 0).length,
    usage: { calls: usage.calls, tokens_in: usage.inputTokens, tokens_out: usage.outputTokens, cost_usd: usage.costUsd },
    readings,
  };
}

function nothingToCompare(metric: string, without: Readonly<Record<string, number>>, trouble: ModelError | null): CommandError {
  if (trouble !== null) return new CommandError(exitCodes.unreachable, trouble.message, { cause: trouble });
  const codes = Object.entries(without).map(([code, count]) => `${count} ${code}`);
  return new CommandError(exitCodes.finding, `no trace has two values of ${metric}: ${codes.join(', ')}`);
}

function totals(counts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [code, count] of counts.flatMap((one) => Object.entries(one))) sums[code] = (sums[code] ?? 0) + count;
  return sums;
}

/** Rounded up, so that what is printed is large enough. */
function dropOf(
  settings: ProjectSettings,
  metric: string,
  { suggested_gate_drop: suggested }: JudgeNoise,
): NoiseReport['gate_drop'] {
  const own = settings.gate_overrides[`${metric}@judge`] ?? {};
  return {
    in_force: settings.tier1_metrics.includes(metric) ? gateSettings(gateConfig(settings), metric, 'judge').gate_drop : null,
    override: { ...own, gate_drop: Math.min(1, Math.ceil(suggested * 100) / 100) },
  };
}
