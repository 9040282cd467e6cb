import { Controller, Inject, Logger } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers, turnEvaluated, type PayloadOf } from '#contracts';
import type { Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { evaluationEvents, type LogRecord } from '../scores-out/evaluation-events.js';
import { LogsExporter, type LogsEndpoint } from '../scores-out/export-logs.js';

/** Where scores go (`scores_out_url`). */
export const SCORES_OUT = Symbol('SCORES_OUT');

type Reports = readonly Delivery<PayloadOf<typeof turnEvaluated>>[];

/**
 * Tells a team's own observability what turns were worth: every report's values as events over OTLP, at least once as long as FM_REPORTS
 * keeps the report (24 hours, 2 GiB).
 */
@Controller()
export class ScoresOutHandler {
  private readonly logger = new Logger(ScoresOutHandler.name);
  private readonly exporter: LogsExporter;

  constructor(@Inject(SCORES_OUT) endpoint: LogsEndpoint) {
    this.exporter = new LogsExporter(endpoint);
  }

  @OnBatch(consumers.scoringReports)
  async handle(@Payload() batch: Reports): Promise<void> {
    for (const said of await this.exporter.export(eventsOf(batch))) {
      this.logger.warn(`the endpoint for scores refused events: ${said}`);
    }
  }
}

/** Made one report at a time: a batch of reports may have very many values. */
function* eventsOf(batch: Reports): Generator<LogRecord> {
  for (const { project, payload } of batch) yield* evaluationEvents(project, payload);
}
