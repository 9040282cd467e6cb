import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers, replayFinished, type PayloadOf } from '#contracts';
import { derivedId } from '#domain/ids';
import { sanitize } from '#domain/text';
import type { Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { UnitOfWork } from '#persistence';
import { ReplayStore } from '../postgres/replay-store.js';
import { ReplayTimer } from './replay-timer.js';

const ERROR_MAX = 500;

@Controller()
export class ReplayFinishedHandler {
  constructor(
    private readonly work: UnitOfWork,
    private readonly replays: ReplayStore,
    private readonly timer: ReplayTimer,
  ) {}

  /** The first end that a worker tells of a live replay counts; one that comes twice, or too late, is written down and changes nothing. */
  @OnBatch(consumers.validationReplayEnds)
  async handle(@Payload() batch: readonly Delivery<PayloadOf<typeof replayFinished>>[]): Promise<void> {
    const first = new Map(batch.map((one) => [one.payload.replay_id, one] as const).reverse());
    await this.work.run(async (tx) => {
      const counted = await this.replays.finish(tx, [...first.values()].map(ended));
      for (const one of batch) {
        const { project, payload, sequence } = one;
        const counts = first.get(payload.replay_id) === one && counted.some(({ replay }) => replay === payload.replay_id);
        if (counts) continue;
        const doc = { replay: payload.replay_id, reason: 'the replay had ended' };
        tx.journal({
          id: derivedId('replay_end_ignored', payload.replay_id, sequence),
          project,
          type: 'replay_end_ignored',
          doc,
        });
      }
    });
    this.timer.nudge();
  }
}

function ended({ project, payload }: Delivery<PayloadOf<typeof replayFinished>>) {
  const { replay_id: replay, session_id, error, tape_share, turn_index } = payload;
  return {
    ...{ project, replay, session: session_id ?? null, tape_share: tape_share ?? null, t: turn_index ?? null },
    error: error === null || error === undefined ? null : sanitize(error, { maxLength: ERROR_MAX }),
  };
}
