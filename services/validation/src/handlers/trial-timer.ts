import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { UnitOfWork } from '#persistence';
import { everySecond, type Repetition } from '#service';
import { EntryStore } from '../postgres/entry-store.js';
import { TrialDesk } from '../trials/trial-desk.js';
import { TrialQueue } from '../postgres/trial-queue.js';

/** Sessions looked at in one go. */
const MOST = 500;

/** What time alone does to trials: candidates begin theirs, sessions close, trials grow too old, paused verdicts are carried out. */
@Injectable()
export class TrialTimer implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(TrialTimer.name);
  private repetition: Repetition | undefined;

  constructor(
    private readonly work: UnitOfWork,
    private readonly entries: EntryStore,
    private readonly queue: TrialQueue,
    private readonly desk: TrialDesk,
  ) {}

  onApplicationBootstrap(): void {
    this.repetition = everySecond(
      () => this.tick(),
      (error) => this.logger.debug(error),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.repetition?.stop();
  }

  async tick(): Promise<void> {
    const read = this.work.read.bind(this.work);
    const fresh = await this.queue.withoutTrial(read);
    if (fresh.length > 0) await this.work.run((tx) => this.desk.begin(tx, fresh));
    await this.desk.look(await this.entries.due(read, MOST));
    await this.desk.review(await this.queue.tooOld(read));
    for (const waiting of await this.queue.unexecuted(read)) await this.work.run((tx) => this.desk.execute(tx, waiting));
    const stopped = await this.queue.stopped(read);
    if (stopped.length > 0) await this.work.run((tx) => this.queue.stop(tx, stopped));
  }
}
