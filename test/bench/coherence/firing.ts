import { foldValue, type GateSettings, type GateState } from '#domain/gate';
import { quantile } from './separation.js';

/** The values of one conversation's turns, in order. */
export type Series = readonly number[];

export const DEFAULTS: GateSettings = { gate_window: 5, gate_target: 0.5, gate_gain: 0.02, gate_drop: 0.15 };

/** The share of conversations that may be alarmed by a source that nobody has adjusted. */
const ALARMED = 0.05;
const STEP = 0.05;

export interface Firing {
  readonly stalled: number;
  readonly regressed: number;
  readonly either: number;
}

/** How many of these conversations would fire at least once. */
export function firing(all: readonly Series[], settings: GateSettings): Firing {
  const fired = all.map((series) => folded(series, settings));
  return {
    stalled: fired.filter(({ stalled }) => stalled).length,
    regressed: fired.filter(({ regressed }) => regressed).length,
    either: fired.filter(({ stalled, regressed }) => stalled || regressed).length,
  };
}

function folded(series: Series, settings: GateSettings): { stalled: boolean; regressed: boolean } {
  let state: GateState | null = null;
  const fired = { stalled: false, regressed: false };
  for (const value of series) {
    const verdict = foldValue(state, value, settings);
    state = verdict.state;
    fired.stalled ||= verdict.stalled;
    fired.regressed ||= verdict.regressed;
  }
  return fired;
}

/**
 * The rule by which defaults are chosen, from ordinary conversations alone, without labels. Target: the peak that 95 % of them reach,
 * rounded down to a hundredth. Drop: the least multiple of 0.05 by which at most 5 % of them ever fall below their peak.
 */
export function calibrated(all: readonly Series[]): GateSettings {
  const peaks = all.filter(({ length }) => length > 0).map((series) => Math.max(...series));
  const gate_target = Math.floor(quantile(peaks, ALARMED) * 100) / 100;
  for (let steps = 1; ; steps += 1) {
    const settings = { ...DEFAULTS, gate_target, gate_drop: Number((steps * STEP).toFixed(2)) };
    if (firing(all, settings).regressed <= ALARMED * all.length) return settings;
  }
}
