import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers, sessionEnded, type PayloadOf } from '#contracts';
import { derivedId, sessionKey } from '#domain/ids';
import type { Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { UnitOfWork } from '#persistence';
import { TrialDesk } from '../trials/trial-desk.js';

@Controller()
export class SessionEndedHandler {
  constructor(
    private readonly work: UnitOfWork,
    private readonly desk: TrialDesk,
  ) {}

  /** A session ends once: the first word stays. */
  @OnBatch(consumers.validationSessions)
  async handle(@Payload() batch: readonly Delivery<PayloadOf<typeof sessionEnded>>[]): Promise<void> {
    const rows = batch.map(({ project, payload, storedAt }) => ({
      ...{
        s: sessionKey(project, payload.session_id),
        project,
        session: payload.session_id,
        ended_us: storedAt,
        reason: payload.reason ?? null,
      },
    }));
    await this.work.run(async (tx) => {
      const ended = await tx.query<{ s: string; project: string; session: string }>(
        `INSERT INTO validation.session_ends (s, project, session, ended_us, reason)
         SELECT DISTINCT ON (s) s, project, session, ended_us, reason
         FROM json_to_recordset($1::json) AS r(s uuid, project text, session text, ended_us bigint, reason text) ORDER BY s, ended_us
         ON CONFLICT DO NOTHING RETURNING s, project, session`,
        [JSON.stringify(rows)],
      );
      for (const { s, project, session } of ended)
        tx.journal({ id: derivedId('session_ended', s), project, type: 'session_ended', s, session });
    });
    await this.desk.look([...new Set(rows.map(({ s }) => s))]);
  }
}
