import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers, turnEvaluated, type PayloadOf } from '#contracts';
import { sessionKey } from '#domain/ids';
import type { Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { UnitOfWork } from '#persistence';
import { EntryStore } from '../postgres/entry-store.js';
import { TrialDesk } from '../trials/trial-desk.js';

@Controller()
export class TurnEvaluatedHandler {
  constructor(
    private readonly work: UnitOfWork,
    private readonly entries: EntryStore,
    private readonly desk: TrialDesk,
  ) {}

  /** What a revision fired is kept, for a later one may not say it any more; then outcomes may be known. */
  @OnBatch(consumers.validationReports)
  async handle(@Payload() batch: readonly Delivery<PayloadOf<typeof turnEvaluated>>[]): Promise<void> {
    const reports = batch.map(({ project, payload }) => ({
      ...{ s: sessionKey(project, payload.session_id), t: payload.turn_index, signatures: payload.fired },
    }));
    const fired = reports.filter(({ signatures }) => signatures.length > 0);
    if (fired.length > 0) await this.work.run((tx) => this.entries.keepFired(tx, fired));
    await this.desk.look([...new Set(reports.map(({ s }) => s))]);
  }
}
