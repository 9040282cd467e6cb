import { Controller, Inject } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers, spansReceived, type PayloadOf, type ReceivedSpan } from '#contracts';
import { parseJson } from '#ingest';
import { TerminalError, type Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { SettingsDirectory, UnitOfWork, type Transaction } from '#persistence';
import { Lanes } from '../jobs/lanes.js';
import { keepSpans, type IncomingSpan } from '../postgres/otel-spans.js';
import { bodyKey, TurnStore } from '../postgres/turn-store.js';

type Spans = Delivery<PayloadOf<typeof spansReceived>>;

/** Spans come: they are kept, and turns that waited for them are scored. */
@Controller()
export class SpansReceivedHandler {
  constructor(
    private readonly work: UnitOfWork,
    private readonly settings: SettingsDirectory,
    private readonly turns: TurnStore,
    @Inject(Lanes) private readonly lanes: Pick<Lanes, 'nudge'>,
  ) {}

  @OnBatch(consumers.scoringSpans)
  async handle(@Payload() batch: readonly Spans[]): Promise<void> {
    const quiet = await this.settings.all();
    const traces = await this.work.run(async (tx) => {
      const spans = await this.spansOf(tx, batch);
      return keepSpans(
        tx,
        spans.map((one) => ({ ...one, quietS: quiet.get(one.project)?.otlp_quiet_s ?? 0 })),
      );
    });
    if (traces.length === 0) return;
    // In a transaction of its own: turns are locked before traces. Killed in between, the batch comes again.
    await this.work.run((tx) => this.turns.spansCame(tx, traces));
    this.lanes.nudge();
  }

  private async spansOf(tx: Transaction, batch: readonly Spans[]): Promise<Omit<IncomingSpan, 'quietS'>[]> {
    const bodies = await this.turns.referencedBodies(tx, batch);
    return batch.flatMap(({ project, payload, storedAt: acceptedAt }) => {
      const spans =
        'spans' in payload ? payload.spans : readSpans(payload.body_ref, bodies.get(bodyKey(project, payload.body_ref)));
      return spans.map((span) => ({ project, span, acceptedAt }));
    });
  }
}

/** Spans that the gateway stored instead of sending. */
function readSpans(hash: string, body: Buffer | undefined): ReceivedSpan[] {
  if (body === undefined) throw new Error(`the spans ${hash} are not stored`);
  const parsed = spansReceived.schema.safeParse(parseJson(body).value);
  if (!parsed.success || !('spans' in parsed.data)) throw new TerminalError(`the stored body ${hash} holds no spans`);
  return parsed.data.spans;
}
