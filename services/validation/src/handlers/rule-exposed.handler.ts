import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers, type RuleExposed } from '#contracts';
import { sessionKey } from '#domain/ids';
import type { Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { UnitOfWork } from '#persistence';

@Controller()
export class RuleExposedHandler {
  constructor(private readonly work: UnitOfWork) {}

  /** A read is an exposure once, however often it is told. */
  @OnBatch(consumers.validationExposures)
  async handle(@Payload() batch: readonly Delivery<RuleExposed>[]): Promise<void> {
    const rows = batch.map(({ project, payload, storedAt }) => ({
      ...{ s: sessionKey(project, payload.session_id), read_id: payload.read_id, project, session: payload.session_id },
      ...{ t: payload.turn_index, kind: payload.kind, version: payload.version },
      ...{ rule_ids: payload.rule_ids, withheld_ids: payload.withheld_ids, at_us: payload.at, stored_us: storedAt },
    }));
    await this.work.run((tx) =>
      tx.query(
        `INSERT INTO validation.exposures (s, read_id, project, session, t, kind, version, rule_ids, withheld_ids, at_us, stored_us)
         SELECT s, read_id, project, session, t, kind, version, rule_ids, withheld_ids, at_us, stored_us
         FROM json_to_recordset($1::json) AS r(s uuid, read_id text, project text, session text, t bigint, kind text, version bigint,
           rule_ids text[], withheld_ids text[], at_us bigint, stored_us bigint) ORDER BY s, read_id
         ON CONFLICT DO NOTHING`,
        [JSON.stringify(rows)],
      ),
    );
  }
}
