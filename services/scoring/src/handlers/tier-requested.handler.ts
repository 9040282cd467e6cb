import { Controller, Inject } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers, type Tier, type TierRequested } from '#contracts';
import { sessionKey } from '#domain/ids';
import type { Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { UnitOfWork } from '#persistence';
import { Lanes } from '../jobs/lanes.js';
import { TurnStore } from '../postgres/turn-store.js';

@Controller()
export class TierRequestedHandler {
  constructor(
    private readonly work: UnitOfWork,
    private readonly turns: TurnStore,
    @Inject(Lanes) private readonly lanes: Pick<Lanes, 'nudge'>,
  ) {}

  @OnBatch(consumers.scoringTiers)
  async handle(@Payload() batch: readonly Delivery<TierRequested>[]): Promise<void> {
    const requests = batch.map(({ project, payload, traceparent }) => ({
      traceparent,
      s: sessionKey(project, payload.session_id),
      t: payload.turn_index,
      tier: payload.tier,
    }));
    const ofTier = (tier: Tier): typeof requests => requests.filter((one) => one.tier === tier);
    const made = await this.work.run(async (tx) => {
      const second = await this.turns.answer(tx, 2, ofTier(2));
      const third = await this.turns.answer(tx, 3, ofTier(3));
      return second || third;
    });
    if (made) this.lanes.nudge();
  }
}
