import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers, type episodeOpened, type PayloadOf } from '#contracts';
import type { Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { RepairDesk } from '../desk/repair-desk.js';
import { WorkStore } from '../postgres/work-store.js';

@Controller()
export class EpisodeOpenedHandler {
  constructor(
    private readonly store: WorkStore,
    private readonly desk: RepairDesk,
  ) {}

  /** The event only wakes: what is open in the table is put into the queue, and rows decide who repairs it. */
  @OnBatch(consumers.repairEpisodes)
  async handle(@Payload() batch: readonly Delivery<PayloadOf<typeof episodeOpened>>[]): Promise<void> {
    const waiting = await this.store.enqueue(batch.map(({ payload }) => payload.episode_id));
    if (waiting > 0) this.desk.nudge();
  }
}
