import { Injectable, Logger } from '@nestjs/common';
import { UnitOfWork } from '#persistence';
import type { ReplayQueue } from '../jetstream/replay-queue.js';

/** Seconds after which a missing worker is worth a word. */
const MISSED_MS = 10_000;

/** The host's replay workers, as far as a project has any. Without one replays are skipped, and live sessions decide alone. */
@Injectable()
export class Workers {
  private readonly logger = new Logger(Workers.name);
  private readonly missedSince = new Map<string, number>();
  private readonly said = new Set<string>();

  constructor(
    private readonly work: UnitOfWork,
    private readonly queue: Pick<ReplayQueue, 'hasIdleWorker'>,
  ) {}

  /** Whether a worker of the project would take a request at once. */
  async areIdle(project: string): Promise<boolean> {
    const idle = await this.queue.hasIdleWorker(project);
    if (idle) {
      this.missedSince.delete(project);
      this.said.delete(project);
    } else await this.miss(project);
    return idle;
  }

  private async miss(project: string): Promise<void> {
    const since = this.missedSince.get(project) ?? performance.now();
    this.missedSince.set(project, since);
    if (this.said.has(project) || performance.now() - since < MISSED_MS) return;
    const busy = await this.work.read<{ one: number }>(
      "SELECT 1 AS one FROM validation.replays WHERE project = $1 AND state IN ('requested', 'started') LIMIT 1",
      [project],
    );
    if (busy.length > 0) return;
    this.said.add(project);
    this.logger.warn(`project ${project}: no replay worker is connected, so replays are skipped; live sessions decide alone`);
  }
}
