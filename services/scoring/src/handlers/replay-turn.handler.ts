import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers } from '#contracts';
import { derivedId } from '#domain/ids';
import type { Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { UnitOfWork } from '#persistence';
import { acceptedTurn, byKey } from '../accepted-turn.js';
import { decodeReplayTurn, type ReplayTurnPayload } from '../decode-turn.js';
import { TurnStore } from '../postgres/turn-store.js';
import { TurnSetup } from '../turn-setup.js';

@Controller()
export class ReplayTurnHandler {
  constructor(
    private readonly work: UnitOfWork,
    private readonly turns: TurnStore,
    private readonly setup: TurnSetup,
  ) {}

  /** Turns of replays that are under way are stored; one of any other replay came too late, or was never asked for. */
  @OnBatch(consumers.scoringReplayTurns, { decode: decodeReplayTurn })
  async handle(@Payload() batch: readonly Delivery<ReplayTurnPayload>[]): Promise<void> {
    const configured = await Promise.all(
      batch.map(async (delivery) => {
        const { turn, body, replay_id: replay } = delivery.payload;
        return { replay, turn: await this.setup.configure(acceptedTurn(delivery, turn, body)) };
      }),
    );
    await this.work.run(async (tx) => {
      const replays = batch.map(({ project, payload }) => ({ project, replay: payload.replay_id }));
      const live = await this.turns.liveReplays(tx, replays);
      const kept = configured.filter(({ replay }) => live.has(replay)).map(({ turn }) => turn);
      await this.turns.acceptReplays(tx, kept.sort(byKey));
      for (const { replay, turn } of configured) {
        if (live.has(replay)) continue;
        const { s, t, project } = turn;
        const doc = { replay, reason: 'the replay is not under way' };
        tx.journal({ id: derivedId('replay_turn_refused', s, t), project, type: 'replay_turn_refused', s, t, doc });
      }
    });
  }
}
