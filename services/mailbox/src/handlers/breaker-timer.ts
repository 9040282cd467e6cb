import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { ProjectGate } from '#domain/notices';
import { SettingsDirectory, UnitOfWork, type Transaction } from '#persistence';
import { everySecond, type Repetition } from '#service';
import { announceBreaker } from '../announcements.js';
import { NoticeStore } from '../postgres/notice-store.js';

/** Closes breakers whose window has run empty, and says so, even when no notice wants to be posted. */
@Injectable()
export class BreakerTimer implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(BreakerTimer.name);
  private repetition: Repetition | undefined;

  constructor(
    private readonly work: UnitOfWork,
    private readonly settings: SettingsDirectory,
    private readonly notices: NoticeStore,
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

  private async tick(): Promise<void> {
    const rows = await this.work.read<{ project: string }>(
      'SELECT project FROM mailbox.breakers WHERE open ORDER BY project',
      [],
    );
    const open = rows.map(({ project }) => project);
    if (open.length > 0) await this.work.run((tx) => this.settle(tx, open));
  }

  private async settle(tx: Transaction, projects: readonly string[]): Promise<void> {
    const { breakers, now } = await this.notices.lockBreakers(tx, projects);
    for (const [project, before] of breakers) {
      const settings = await this.settings.of(project);
      const gate = new ProjectGate(before, new Set(), settings, now);
      if (!gate.settle()) continue;
      await this.notices.saveBreakers(tx, new Map([[project, gate.breaker]]));
      announceBreaker(tx, {
        project,
        settings,
        breaker: gate.breaker,
        cause: `window|${Math.max(...before.counted)}`,
        reason: 'the window is empty',
      });
    }
  }
}
