import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { UnitOfWork } from '#persistence';
import { everySecond, type Repetition } from '#service';
import { ScoreStore } from '../postgres/score-store.js';
import { OVERDUE_ROWS, TurnStore } from '../postgres/turn-store.js';
import { mayPass, messageOf, quietly } from './failures.js';

/** Scoring is the only owner of time-outs: what waited for traces long enough is scored on what is there. */
@Injectable()
export class TraceWait implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(TraceWait.name);
  private repetition: Repetition | undefined;
  private stopping = false;

  constructor(
    private readonly work: UnitOfWork,
    private readonly turns: TurnStore,
    private readonly scores: ScoreStore,
  ) {}

  onApplicationBootstrap(): void {
    this.repetition = everySecond(
      () => this.tick(),
      (error) => this.logger.debug(messageOf(error)),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await this.repetition?.stop();
  }

  async tick(): Promise<void> {
    await quietly(this.logger, 'turns that wait for traces', () => this.answerOverdue());
    await quietly(this.logger, 'scores that missed their turns', () => this.work.run((tx) => this.scores.attachStray(tx)));
  }

  private async answerOverdue(): Promise<void> {
    let answered = OVERDUE_ROWS;
    while (answered >= OVERDUE_ROWS && !this.stopping) answered = await this.page();
  }

  /** One turn that cannot be scored must not keep the others waiting: then each is answered for itself. */
  private async page(): Promise<number> {
    try {
      return await this.work.run((tx) => this.turns.answerOverdue(tx));
    } catch (error) {
      if (mayPass(error)) throw error;
    }
    let answered = 0;
    for (const turn of await this.work.run((tx) => this.turns.overdue(tx))) answered += await this.one(turn);
    return answered;
  }

  private async one(turn: { readonly s: string; readonly t: number }): Promise<number> {
    try {
      return await this.work.run((tx) => this.turns.answerOverdue(tx, [turn]));
    } catch (error) {
      if (mayPass(error)) throw error;
      const given = await this.work.run((tx) => this.turns.giveUp(tx, turn, messageOf(error)));
      if (given) this.logger.warn(`turn ${turn.t} of ${turn.s} is answered without scores: ${messageOf(error)}`);
      return given ? 1 : 0;
    }
  }
}
