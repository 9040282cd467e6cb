import { Gauge, type Registry } from 'prom-client';
import { lanes } from '#domain/scoring';
import type { ProviderBlockRows } from '../postgres/provider-blocks.js';
import { MAX_COUNTED_JOBS, type ScoreQueue, type ScoreQueues } from '../postgres/score-queues.js';
import { inTime } from './in-time.js';

/** What waits for models and other evaluators, read from the tables when somebody scrapes. */
export class ScoringGauges {
  private readonly databaseUp: Gauge;
  private readonly jobs: Gauge;
  private readonly oldest: Gauge;
  private readonly providers: Gauge;

  constructor(
    registry: Registry,
    private readonly queues: ScoreQueues,
    private readonly blocks: ProviderBlockRows,
  ) {
    const registers = [registry];
    this.databaseUp = new Gauge({
      name: 'fleetmend_database_up',
      help: '1 when the database answered this scrape',
      registers,
    });
    this.jobs = new Gauge({
      name: 'fleetmend_score_jobs',
      help: `Score jobs that wait or are in hand, by lane; counted up to ${MAX_COUNTED_JOBS}`,
      labelNames: ['lane'],
      registers,
    });
    this.oldest = new Gauge({
      name: 'fleetmend_score_jobs_oldest_seconds',
      help: 'Age of the oldest score job of those that are next in a lane; 0 when there is none',
      labelNames: ['lane'],
      registers,
    });
    this.providers = new Gauge({
      name: 'fleetmend_providers',
      help: 'Providers of projects that are not asked: blocked until a person acts (/readyz says what to do), or resting for a while',
      labelNames: ['state'],
      registers,
    });
  }

  async refresh(): Promise<void> {
    try {
      this.show(await inTime(this.read()));
    } catch {
      // Old figures would look like fresh ones.
      for (const gauge of [this.jobs, this.oldest, this.providers]) gauge.reset();
      this.databaseUp.set(0);
    }
  }

  /** One after the other: a scrape takes one connection. */
  private async read() {
    return { queues: await this.queues.ofLanes(lanes), providers: await this.blocks.counts() };
  }

  private show(read: { queues: readonly ScoreQueue[]; providers: { blocked: number; resting: number } }): void {
    for (const { lane, jobs, oldestS } of read.queues) {
      this.jobs.set({ lane }, jobs);
      this.oldest.set({ lane }, oldestS ?? 0);
    }
    this.providers.set({ state: 'blocked' }, read.providers.blocked);
    this.providers.set({ state: 'resting' }, read.providers.resting);
    this.databaseUp.set(1);
  }
}
