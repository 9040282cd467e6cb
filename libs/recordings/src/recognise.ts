import { isRecord } from './shapes.js';

export type RecordingKind = 'turn' | 'tau-bench' | 'swe-agent';

/** What one value of a JSON or JSONL file is, told by its fields; undefined when it is none of ours. */
export function recognise(value: unknown): RecordingKind | undefined {
  if (!isRecord(value)) return undefined;
  if (typeof value.session_id === 'string' && ['number', 'bigint'].includes(typeof value.turn_index)) return 'turn';
  if (Array.isArray(value.traj) && value.traj.every((message) => isRecord(message) && typeof message.role === 'string'))
    return 'tau-bench';
  if (Array.isArray(value.trajectory) && value.trajectory.every(isRecord)) return 'swe-agent';
  return undefined;
}
