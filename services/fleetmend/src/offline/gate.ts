import { gateDefaults, replayGate, type GateAnswer } from '#domain/gate';
import { configOf, fieldsOf, listOf, numberOf } from './shapes.js';

type GateSettings = typeof gateDefaults;

const KINDS = { gate_window: 'number', gate_target: 'number', gate_gain: 'number', gate_drop: 'number' } as const;

/** `{config?, values}` -> `{verdicts}`. The settings given as flags hold where a line has none of its own. */
export function answerGateLine(flags: Partial<GateSettings>): (line: unknown) => GateAnswer {
  const defaults = { ...gateDefaults, ...flags };
  return (line) => {
    const fields = fieldsOf(line, '{"values": [0.2, 0.25, 0.25]}');
    return replayGate({ config: configOf<GateSettings>(fields, KINDS), values: listOf(fields, 'values', numberOf) }, defaults);
  };
}
