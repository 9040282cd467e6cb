import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers, replayStarted, type PayloadOf } from '#contracts';
import type { Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { UnitOfWork } from '#persistence';
import { ReplayStore } from '../postgres/replay-store.js';

@Controller()
export class ReplayStartedHandler {
  constructor(
    private readonly work: UnitOfWork,
    private readonly replays: ReplayStore,
  ) {}

  /** From now on the time of the replay itself counts. */
  @OnBatch(consumers.validationReplayStarts)
  async handle(@Payload() batch: readonly Delivery<PayloadOf<typeof replayStarted>>[]): Promise<void> {
    const started = batch.map(({ project, payload }) => ({ project, replay: payload.replay_id }));
    await this.work.run((tx) => this.replays.start(tx, started));
  }
}
