import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { ProjectSettings } from '#contracts';
import type { Lane } from '#domain/scoring';
import { InfrastructureError } from '#messaging';
import { SettingsDirectory } from '#persistence';
import type { ClaimedJob, CostLimit } from '../postgres/job-claims.js';
import { JobStore } from '../postgres/job-store.js';
import { LaneWorker, type LaneTask } from './lane-worker.js';
import { costOfOne, costOfProvider } from './cost-limits.js';
import type { ModelServices } from './model-services.js';

/** What each lane does with a job. */
export type LaneTasks = Readonly<Record<Lane, LaneTask>>;

export interface LanesOptions {
  readonly concurrency: number;
  /** Milliseconds that work in progress may take at the end, as long as the consumers', and beside them. */
  readonly graceMs: number;
  /** From when on nothing more is taken. */
  readonly stopping?: AbortSignal;
  readonly models: Pick<ModelServices, 'prices' | 'close'>;
}

/** The workers of this process, one for each kind of evaluator. */
@Injectable()
export class Lanes implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(Lanes.name);
  private readonly workers: LaneWorker[];
  private stopped: Promise<unknown> | undefined;

  constructor(
    private readonly store: JobStore,
    private readonly settings: SettingsDirectory,
    tasks: LaneTasks,
    private readonly options: LanesOptions,
  ) {
    this.workers = (Object.keys(tasks) as Lane[]).map(
      (lane) =>
        new LaneWorker(store, {
          lane,
          concurrency: options.concurrency,
          task: tasks[lane],
          limits: () => this.limitsOf(lane),
          shared: async () => (await this.settings.all()).size > 1,
          onError: (error, job) => this.say(lane, error, job),
        }),
    );
  }

  onApplicationBootstrap(): void {
    for (const worker of this.workers) worker.start();
    this.options.stopping?.addEventListener('abort', () => void this.stop(), { once: true });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.stop();
    await this.options.models.close();
  }

  /** However often it is asked for: the first time counts. */
  private stop(): Promise<unknown> {
    return (this.stopped ??= Promise.all(this.workers.map((worker) => worker.stop(this.options.graceMs))));
  }

  /** A transaction has committed that may have made jobs. */
  nudge(): void {
    for (const worker of this.workers) worker.nudge();
  }

  /** Projects with a limit on their day's cost. For a model without a price, the evaluator says what is wrong. */
  async limitsOf(lane: Lane): Promise<CostLimit[]> {
    if (lane !== 'judge' && lane !== 'embedding') return [];
    const limited = [...(await this.settings.all())].filter(([, { max_cost_usd: most }]) => most > 0);
    if (limited.length === 0) return [];
    const waiting = await this.store.providers(lane);
    return limited.map(([project, settings]) => {
      const own = waiting.filter((one) => one.project === project);
      // Without a price nothing can be reserved: a day that is spent stops them all the same.
      const reserves = own.map(({ provider }) => [provider, costOfProvider(provider, settings, this.options.models.prices) ?? 0]);
      return { project, maxUsd: settings.max_cost_usd, reserveUsd: Object.fromEntries(reserves) as Record<string, number> };
    });
  }

  /** The most that one value may cost a project, of whichever model; 0 where nothing can be said. */
  dearestValueUsd(settings: ProjectSettings): number {
    const { prices } = this.options.models;
    return Math.max(costOfOne('judge', settings, prices) ?? 0, costOfOne('embedding', settings, prices) ?? 0);
  }

  private say(lane: Lane, error: unknown, job?: ClaimedJob): void {
    // A database that is away is said by the consumers.
    if (error instanceof InfrastructureError) return;
    const which =
      job === undefined
        ? `${lane} jobs`
        : `${job.provider} for turn ${job.t} of ${job.s} (${job.project}), tried again in a minute`;
    this.logger.warn(`${which}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
}
