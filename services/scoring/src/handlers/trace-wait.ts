import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { UnitOfWork } from '#persistence';
import { ScoreStore } from '../postgres/score-store.js';
import { TurnStore } from '../postgres/turn-store.js';

const TICK_MS = 1_000;

/** Scoring is the only owner of time-outs: what waited for traces long enough is scored on what is there. */
@Injectable()
export class TraceWait implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(TraceWait.name);
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;

  constructor(
    private readonly work: UnitOfWork,
    private readonly turns: TurnStore,
    private readonly scores: ScoreStore,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.running ??= this.tick().finally(() => {
        this.running = undefined;
      });
    }, TICK_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  /** A database that is away is said by the consumers; the next tick tries again. */
  private async tick(): Promise<void> {
    try {
      await this.work.run(async (tx) => {
        await this.turns.answerOverdue(tx);
        await this.scores.attachStray(tx);
      });
    } catch (error) {
      this.logger.debug(error instanceof Error ? error.message : String(error));
    }
  }
}
