import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers, scorePosted, type PayloadOf } from '#contracts';
import { sessionKey } from '#domain/ids';
import type { Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { UnitOfWork } from '#persistence';
import { numberOf } from '../sent-scores.js';
import { ScoreStore, type PostedScore } from '../postgres/score-store.js';

@Controller()
export class ScorePostedHandler {
  constructor(
    private readonly work: UnitOfWork,
    private readonly scores: ScoreStore,
  ) {}

  @OnBatch(consumers.scoringScores)
  async handle(@Payload() batch: readonly Delivery<PayloadOf<typeof scorePosted>>[]): Promise<void> {
    const inOrder = [...batch].sort((a, b) => a.sequence - b.sequence);
    const posted = inOrder.flatMap(({ project, payload }) =>
      payload.scores.map((score): PostedScore => ({
        s: sessionKey(project, payload.session_id),
        t: payload.turn_index,
        project,
        session: payload.session_id,
        trace: score.trace_id ?? '',
        metric: score.metric,
        value: numberOf(score.value),
        reason: score.reason ?? null,
      })),
    );
    await this.work.run((tx) => this.scores.post(tx, posted));
  }
}
