import { SUBJECT_ROOT } from './event.js';
import type { StreamName } from './streams.js';

/** Where replay workers are asked and answer. Apart from replay.events.ts, so that the client needs no zod to name it. */
export const REPLAY_STREAM = 'FM_REPLAYS' satisfies StreamName;

/** The durable consumer of a project's requests, shared by all its replay workers; validation makes it when it first asks. */
export function replayDurable(project: string): string {
  return `replays-${project}`;
}

/** `fm.<project>.<event>`, as the event's own contract has it. */
export function replaySubject(
  project: string,
  event: 'replay.requested' | 'replay.started' | 'replay.finished' | 'replay.turn',
): string {
  return [SUBJECT_ROOT, project, event].join('.');
}
