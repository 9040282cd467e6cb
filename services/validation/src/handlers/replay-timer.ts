import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { everySecond, type Repetition } from '#service';
import { PairDesk } from '../replays/pair-desk.js';
import { RegressionDesk } from '../replays/regression-desk.js';
import { ReplayDesk } from '../replays/replay-desk.js';

/** Moves replays on: every second, and at once when something about one has come. */
@Injectable()
export class ReplayTimer implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(ReplayTimer.name);
  private repetition: Repetition | undefined;
  private running: Promise<void> | undefined;
  private again = false;
  private stopped = false;

  constructor(
    private readonly replays: ReplayDesk,
    private readonly pairs: PairDesk,
    private readonly regressions: RegressionDesk,
  ) {}

  onApplicationBootstrap(): void {
    this.repetition = everySecond(
      () => this.beat(),
      (error) => this.logger.debug(error),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    await this.repetition?.stop();
    await this.running;
  }

  /** Something may have moved. Errors are those of the next beat too, which says them. */
  nudge(): void {
    void this.beat().catch(() => undefined);
  }

  /** One look at a time; what is asked for meanwhile is looked at once more. */
  beat(): Promise<void> {
    if (this.stopped) return Promise.resolve();
    if (this.running !== undefined) {
      this.again = true;
      return this.running;
    }
    this.running = this.look().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async look(): Promise<void> {
    do {
      await this.replays.look();
      await this.pairs.look();
      await this.regressions.look();
    } while (this.takeAgain());
  }

  private takeAgain(): boolean {
    const again = this.again && !this.stopped;
    this.again = false;
    return again;
  }
}
