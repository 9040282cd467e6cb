import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers, type TierRequested } from '#contracts';
import { sessionKey } from '#domain/ids';
import type { Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { UnitOfWork } from '#persistence';
import { TurnStore } from '../postgres/turn-store.js';

@Controller()
export class TierRequestedHandler {
  constructor(
    private readonly work: UnitOfWork,
    private readonly turns: TurnStore,
  ) {}

  @OnBatch(consumers.scoringTiers)
  async handle(@Payload() batch: readonly Delivery<TierRequested>[]): Promise<void> {
    const requests = batch.map(({ project, payload, traceparent }) => ({
      traceparent,
      s: sessionKey(project, payload.session_id),
      t: payload.turn_index,
      tier: payload.tier,
    }));
    await this.work.run(async (tx) => {
      for (const tier of [2, 3] as const)
        await this.turns.answer(
          tx,
          tier,
          requests.filter((one) => one.tier === tier),
        );
    });
  }
}
