import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers, replayScored, type PayloadOf } from '#contracts';
import type { Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { UnitOfWork } from '#persistence';
import { ReplayStore } from '../postgres/replay-store.js';
import { ReplayTimer } from './replay-timer.js';

@Controller()
export class ReplayScoredHandler {
  constructor(
    private readonly work: UnitOfWork,
    private readonly replays: ReplayStore,
    private readonly timer: ReplayTimer,
  ) {}

  /** The highest answer of each tier counts. */
  @OnBatch(consumers.validationReplayScores)
  async handle(@Payload() batch: readonly Delivery<PayloadOf<typeof replayScored>>[]): Promise<void> {
    const answers = batch.map(({ payload: { replay_id: replay, tier, answer, pending, scores } }) => ({
      ...{ replay, tier, answer, pending, scores },
    }));
    await this.work.run((tx) => this.replays.keepAnswers(tx, answers));
    this.timer.nudge();
  }
}
