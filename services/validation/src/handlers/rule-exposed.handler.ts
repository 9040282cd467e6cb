import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers, ruleExposed, type PayloadOf } from '#contracts';
import { sessionKey } from '#domain/ids';
import type { Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import type { ExposureRow } from '../postgres/exposure-store.js';
import { TrialDesk } from '../trials/trial-desk.js';

@Controller()
export class RuleExposedHandler {
  constructor(private readonly desk: TrialDesk) {}

  /** Who read what is a fact; who came to a candidate by it enters its trial. */
  @OnBatch(consumers.validationExposures)
  handle(@Payload() batch: readonly Delivery<PayloadOf<typeof ruleExposed>>[]): Promise<void> {
    return this.desk.expose(batch.map(exposureRow));
  }
}

function exposureRow({ project, payload, storedAt }: Delivery<PayloadOf<typeof ruleExposed>>): ExposureRow {
  const { session_id: session, read_id, turn_index: t, kind, version, rule_ids, withheld_ids, at } = payload;
  const read = { s: sessionKey(project, session), read_id, project, session, t, kind, version, rule_ids, withheld_ids };
  return { ...read, at_us: at, stored_us: storedAt };
}
