import type { MetricName, ProjectSettings, Tier } from '#contracts';
import { embeddingScale } from '../checks/coherence-scales.js';
import type { GateSettings } from './gate.js';

/** Everything of a project's settings that decides a turn. Stored with the turn, so that a refold decides as the first time. */
export interface GateConfig extends GateSettings {
  readonly overrides: Readonly<Record<string, Partial<GateSettings>>>;
  readonly thresholds: Readonly<Record<string, number>>;
  readonly enable_tier3: boolean;
  readonly tiers: Readonly<Record<1 | 2 | 3, readonly string[]>>;
  /** Turns further behind the newest are corrected in the table and the journal only. */
  readonly revise_window_turns: number;
  readonly alert_cooldown_turns: number;
}

const DEFAULT_THRESHOLD = 0.5;
const METRIC_THRESHOLDS: Readonly<Partial<Record<MetricName, number>>> = { outcome_correct: 0.9 };

/** Sources whose values are folded and shown but neither escalate nor alert until a project sets a target for them (BEHAVIOUR 2.5). */
const SILENT_UNTIL_TARGETED: ReadonlySet<string> = new Set(['lexical', 'embedding']);

export function gateConfig(settings: ProjectSettings): GateConfig {
  return {
    gate_window: settings.gate_window,
    gate_target: settings.gate_target,
    gate_gain: settings.gate_gain,
    gate_drop: settings.gate_drop,
    overrides: withScale(settings),
    thresholds: settings.thresholds,
    enable_tier3: settings.enable_tier3,
    tiers: { 1: distinct(settings.tier1_metrics), 2: distinct(settings.tier2_metrics), 3: distinct(settings.tier3_metrics) },
    revise_window_turns: settings.revise_window_turns,
    alert_cooldown_turns: settings.alert_cooldown_turns,
  };
}

/** Similarities have a scale of their own per model: where it has been measured, it is the default; else the source stays silent. */
function withScale({ gate_overrides: overrides, embedding_model: model }: ProjectSettings): GateConfig['overrides'] {
  const own = overrides as Record<string, Partial<GateSettings>>;
  const scale = model === null ? null : embeddingScale(model);
  return scale === null ? own : { ...own, [EMBEDDED]: { ...scale.gate, ...own['coherence'], ...own[EMBEDDED] } };
}

const EMBEDDED = 'coherence@embedding';

/** A metric named twice is scored once. */
function distinct(names: readonly string[]): string[] {
  return [...new Set(names)];
}

/** Gate settings of a metric's values from one source: `metric@source` over `metric` over the project's. */
export function gateSettings(config: GateConfig, metric: string, source: string): GateSettings {
  const { gate_window, gate_target, gate_gain, gate_drop } = config;
  return {
    gate_window,
    gate_target,
    gate_gain,
    gate_drop,
    ...config.overrides[metric],
    ...config.overrides[`${metric}@${source}`],
  };
}

/** Whether values of this metric and source may fire at all. */
export function canFire(config: GateConfig, metric: string, source: string): boolean {
  return !SILENT_UNTIL_TARGETED.has(source) || config.overrides[`${metric}@${source}`]?.gate_target !== undefined;
}

/** The threshold of a metric: the project's, the metric's own, 0.5. A value strictly below it breaches. */
export function thresholdOf(config: GateConfig, metric: string): number {
  return config.thresholds[metric] ?? METRIC_THRESHOLDS[metric as MetricName] ?? DEFAULT_THRESHOLD;
}

export function metricsOfTier(config: GateConfig, tier: Exclude<Tier, 0>): readonly string[] {
  return tier === 3 && !config.enable_tier3 ? [] : config.tiers[tier];
}
