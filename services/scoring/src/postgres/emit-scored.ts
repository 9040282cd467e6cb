import { traceScored, type PayloadOf } from '#contracts';
import { derivedId } from '#domain/ids';
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

export function emitScored(
  tx: Transaction,
  { s, t, project, session, acceptedAt, configId, partial, traceparent }: Scored,
  answer: Pick<PayloadOf<typeof traceScored>, 'tier' | 'answer' | 'scores' | 'signals'> & { pending?: boolean; skipped?: string },
): void {
  tx.emit({
    event: traceScored,
    id: derivedId('trace.scored', s, t, answer.tier, answer.answer),
    project,
    traceparent,
    payload: {
      ...{ session_id: session, turn_index: t, accepted_at: acceptedAt, config: configId },
      ...{ pending: false, partial, skipped: null, ...answer },
    },
  });
}
