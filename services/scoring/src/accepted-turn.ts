import { createHash } from 'node:crypto';
import type { Delivery } from '#messaging';
import type { Turn } from '#contracts';
import { sessionKey } from '#domain/ids';

/** One turn as it came in, with its key. Micros: integer microseconds since the epoch. */
export interface AcceptedTurn {
  readonly s: string;
  readonly t: number;
  readonly project: string;
  readonly turn: Turn;
  readonly body: Buffer;
  /** SHA-256 of the body: two bodies of one turn are the same turn or a conflict. */
  readonly sha: string;
  readonly acceptedAt: number;
  readonly notes: readonly string[];
  readonly traceparent?: string | undefined;
}

/** What `turn.ended` decodes to: a normalised turn with its bytes, or a reference to stored bytes. */
export type TurnPayload =
  | { readonly turn: Turn; readonly body: Buffer }
  | { readonly session_id: string; readonly turn_index: number; readonly body_ref: string };

export function acceptedTurn(delivery: Delivery<unknown>, turn: Turn, body: Buffer): AcceptedTurn {
  return {
    s: sessionKey(delivery.project, turn.session_id),
    t: turn.turn_index,
    project: delivery.project,
    turn,
    body,
    sha: createHash('sha256').update(body).digest('hex'),
    acceptedAt: delivery.storedAt,
    notes: delivery.notes,
    traceparent: delivery.traceparent,
  };
}

/** By session and turn, then by age: the order in which rows are written and locked. */
export function byKey(a: { s: string; t: number }, b: { s: string; t: number }): number {
  return a.s < b.s ? -1 : a.s > b.s ? 1 : a.t - b.t;
}
