import { foldValue, type GateSettings, type GateState } from './gate.js';

export interface GateLine {
  readonly config?: Partial<GateSettings> | undefined;
  readonly values: readonly number[];
}

export interface GateAnswer {
  readonly verdicts: readonly { peak: number; turns_since_gain: number; stalled: boolean; regressed: boolean }[];
}

export const gateDefaults: GateSettings = { gate_window: 5, gate_target: 0.5, gate_gain: 0.02, gate_drop: 0.15 };

/** One series through the gate: what `fleetmend gate replay` answers for one line. */
export function replayGate({ config, values }: GateLine, defaults: GateSettings = gateDefaults): GateAnswer {
  const settings = { ...defaults, ...config };
  let before: GateState | null = null;
  const verdicts = values.map((value) => {
    const { state, stalled, regressed } = foldValue(before, value, settings);
    before = state;
    return { peak: state.peak, turns_since_gain: state.turnsSinceGain, stalled, regressed };
  });
  return { verdicts };
}
