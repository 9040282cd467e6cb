import { replayScored, traceScored, type PayloadOf } from '#contracts';
import { derivedId, replayOfSession } from '#domain/ids';
import type { Transaction } from '#persistence';

/** The turn that an answer is about. */
export interface Scored {
  readonly s: string;
  readonly t: number;
  readonly project: string;
  readonly session: string;
  readonly acceptedAt: number;
  readonly configId: string;
  readonly partial: boolean;
  readonly traceparent?: string | undefined;
}

/** The turns of replays are told to validation, all others to gating. */
export function emitScored(
  tx: Transaction,
  { s, t, project, session, acceptedAt, configId, partial, traceparent }: Scored,
  answer: Pick<PayloadOf<typeof traceScored>, 'tier' | 'answer' | 'scores' | 'signals'> & { pending?: boolean; skipped?: string },
): void {
  const id = derivedId('trace.scored', s, t, answer.tier, answer.answer);
  const payload = {
    ...{ session_id: session, turn_index: t, accepted_at: acceptedAt, config: configId },
    ...{ pending: false, partial, skipped: null, ...answer },
  };
  const replay = replayOfSession(session);
  if (replay === null) tx.emit({ event: traceScored, id, project, traceparent, payload });
  else tx.emit({ event: replayScored, id, project, traceparent, payload: { ...payload, replay_id: replay } });
}
