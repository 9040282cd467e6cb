import { Controller, Inject } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers, type Tier, type TierRequested } from '#contracts';
import { replayOfSession, sessionKey } from '#domain/ids';
import type { Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { UnitOfWork } from '#persistence';
import { Lanes } from '../jobs/lanes.js';
import { TurnStore } from '../postgres/turn-store.js';
import { Verifiers } from '../verifiers.js';

@Controller()
export class TierRequestedHandler {
  constructor(
    private readonly work: UnitOfWork,
    private readonly turns: TurnStore,
    @Inject(Lanes) private readonly lanes: Pick<Lanes, 'nudge'>,
    private readonly verifiers: Verifiers,
  ) {}

  @OnBatch(consumers.scoringTiers)
  async handle(@Payload() batch: readonly Delivery<TierRequested>[]): Promise<void> {
    const requests = batch.map(({ project, payload, traceparent }) => ({
      traceparent,
      s: sessionKey(project, payload.session_id),
      t: payload.turn_index,
      tier: payload.tier,
      replay: replayOfSession(payload.session_id) !== null,
    }));
    // Tiers 0 and 1 of other turns are answered when they are accepted.
    const ofTier = (tier: Tier): typeof requests => requests.filter((one) => one.tier === tier && (tier > 1 || one.replay));
    const made = await this.work.run(async (tx) => {
      const outcome = await this.turns.answerOutcome(tx, ofTier(0), (project) => this.verifiers.isKnown(project));
      const first = await this.turns.answer(tx, 1, ofTier(1));
      const second = await this.turns.answer(tx, 2, ofTier(2));
      const third = await this.turns.answer(tx, 3, ofTier(3));
      return outcome || first || second || third;
    });
    if (made) this.lanes.nudge();
  }
}
