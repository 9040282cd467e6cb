/** Where a session stands on one metric. `turnsSinceGain` counts values without progress against `peak`. */
export interface GateState {
  readonly peak: number;
  readonly turnsSinceGain: number;
}

export interface GateSettings {
  readonly gate_window: number;
  readonly gate_target: number;
  readonly gate_gain: number;
  readonly gate_drop: number;
}

export interface GateVerdict {
  readonly state: GateState;
  readonly stalled: boolean;
  readonly regressed: boolean;
}

/**
 * Folds one value into a gate (BEHAVIOUR 2, rules 1 to 3). `before` is null when the metric has no value yet.
 * The comparisons are on raw doubles in exactly these forms: other algebra differs by an ulp.
 * `turnsSinceGain` is what it is after a firing has reset it.
 */
export function foldValue(before: GateState | null, value: number, settings: GateSettings): GateVerdict {
  if (before === null) return { state: { peak: value, turnsSinceGain: 0 }, stalled: false, regressed: false };
  const { peak } = before;
  if (value >= peak + settings.gate_gain) {
    return { state: { peak: Math.max(peak, value), turnsSinceGain: 0 }, stalled: false, regressed: false };
  }
  const turnsSinceGain = before.turnsSinceGain + 1;
  const stalled = turnsSinceGain >= Math.max(1, settings.gate_window) && peak < settings.gate_target;
  const regressed = value < peak - settings.gate_drop;
  return { state: { peak, turnsSinceGain: stalled || regressed ? 0 : turnsSinceGain }, stalled, regressed };
}
