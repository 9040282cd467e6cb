import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers, turnEvaluated, type PayloadOf } from '#contracts';
import { sessionKey } from '#domain/ids';
import type { Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { UnitOfWork } from '#persistence';
import { AlertBatch } from '../alert-batch.js';
import { AlertStore, type TouchedSession } from '../postgres/alert-store.js';

@Controller()
export class TurnEvaluatedHandler {
  constructor(
    private readonly work: UnitOfWork,
    private readonly alerts: AlertStore,
    private readonly batch: AlertBatch,
  ) {}

  /** The event only says that a session changed; the truth is in the tables. */
  @OnBatch(consumers.mailboxReports)
  async handle(@Payload() deliveries: readonly Delivery<PayloadOf<typeof turnEvaluated>>[]): Promise<void> {
    let sessions = await this.alerts.needing(touchedSessions(deliveries));
    while (sessions.length > 0) {
      const touched = sessions;
      const decided = await this.work.run((tx) => this.batch.decide(tx, touched));
      // Another copy may have left out a healthy report of these sessions because ours was not committed yet: look again.
      const now = await this.alerts.revisions(decided);
      sessions = decided.filter(({ s, seen }) => (now.get(s) ?? '') !== seen).map((one) => ({ ...one, firstT: one.from }));
    }
  }
}

function touchedSessions(deliveries: readonly Delivery<PayloadOf<typeof turnEvaluated>>[]): TouchedSession[] {
  const sessions = new Map<string, TouchedSession>();
  for (const { project, payload, traceparent } of deliveries) {
    const s = sessionKey(project, payload.session_id);
    const known = sessions.get(s);
    // Reports too far behind to be published again may have changed with this one: the history is read from there.
    const first = Math.min(payload.turn_index, payload.changed_from ?? payload.turn_index);
    sessions.set(s, {
      s,
      project,
      session: payload.session_id,
      firstT: Math.min(first, known?.firstT ?? first),
      healthy: payload.signatures.length === 0 && (known?.healthy ?? true),
      causes: new Map([...(known?.causes ?? []), [payload.turn_index, traceparent]]),
    });
  }
  return [...sessions.values()].sort((a, b) => (a.s < b.s ? -1 : 1));
}
