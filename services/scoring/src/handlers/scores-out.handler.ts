import { Controller, Inject, Logger } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers, turnEvaluated, type PayloadOf } from '#contracts';
import type { Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { evaluationEvents } from '../scores-out/evaluation-events.js';
import { exportLogs, type LogsEndpoint } from '../scores-out/export-logs.js';

/** Where scores go (`scores_out_url`). */
export const SCORES_OUT = Symbol('SCORES_OUT');

/** Tells a team's own observability what turns were worth: every report's values as events over OTLP, at least once. */
@Controller()
export class ScoresOutHandler {
  private readonly logger = new Logger(ScoresOutHandler.name);

  constructor(@Inject(SCORES_OUT) private readonly endpoint: LogsEndpoint) {}

  @OnBatch(consumers.scoringReports)
  async handle(@Payload() batch: readonly Delivery<PayloadOf<typeof turnEvaluated>>[]): Promise<void> {
    const records = batch.flatMap(({ project, payload }) => evaluationEvents(project, payload));
    const refused = await exportLogs(this.endpoint, records);
    for (const said of refused) this.logger.warn(`the endpoint for scores refused events: ${said}`);
  }
}
