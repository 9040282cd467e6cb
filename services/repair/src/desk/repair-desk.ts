import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { InfrastructureError } from '#messaging';
import { SettingsDirectory, UnitOfWork } from '#persistence';
import { announceStart } from '../announcements.js';
import type { ClaimedEpisode } from '../claimed-episode.js';
import { LeaseLost } from '../lease-lost.js';
import { RepairModel } from '../model/repair-model.js';
import { WorkStore } from '../postgres/work-store.js';
import { RepairRun } from '../run/repair-run.js';
import { RunTime } from '../run/run-time.js';
import { limitsOf } from './project-limits.js';

export interface DeskOptions {
  /** Runs in progress at once. */
  readonly slots: number;
  /** Milliseconds that runs in progress may take when the end is asked for. */
  readonly graceMs: number;
  /** From when on nothing more is taken. */
  readonly stopping?: AbortSignal;
}

export const DESK_OPTIONS = Symbol('DESK_OPTIONS');

/** A worker that dies keeps its episode for so long. */
const LEASE_S = 45;
const RENEW_MS = 15_000;
/** What is due by time alone is found so late at most. */
const IDLE_MS = 1_000;

interface Running {
  readonly episode: ClaimedEpisode;
  readonly time: RunTime;
  readonly done: Promise<void>;
}

/** The repair workers of this process: takes episodes as there is room, keeps their leases, and runs them. Several processes share the work. */
@Injectable()
export class RepairDesk implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(RepairDesk.name);
  private readonly running = new Map<string, Running>();
  private loop: Promise<void> = Promise.resolve();
  private renewal: NodeJS.Timeout | undefined;
  private stopped: Promise<void> | undefined;
  private wake: () => void = () => undefined;
  private nudged = false;

  constructor(
    private readonly work: UnitOfWork,
    private readonly store: WorkStore,
    private readonly settings: SettingsDirectory,
    private readonly repair: RepairRun,
    @Inject(RepairModel) private readonly model: RepairModel,
    @Inject(DESK_OPTIONS) private readonly options: DeskOptions,
  ) {}

  onApplicationBootstrap(): void {
    this.renewal = setInterval(() => void this.renew(), RENEW_MS);
    this.loop = this.takeOn();
    this.options.stopping?.addEventListener('abort', () => void this.stop(), { once: true });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  /** There may be an episode. Heard while a claim is under way too, which may have looked too early to see it. */
  nudge(): void {
    this.nudged = true;
    this.wake();
  }

  /** No further claim. What is in progress may take `graceMs` from now, then it is given back as cancelled. */
  stop(): Promise<void> {
    return (this.stopped ??= this.finish());
  }

  /** Takes the next episode, if there is one; the run goes on by itself, and `ended` waits for it. */
  async takeOne(): Promise<boolean> {
    if (!(await this.store.hasWork())) return false;
    const limits = limitsOf(await this.settings.all(), this.model.prices);
    const claim = { lease: randomUUID(), leaseS: LEASE_S, limits };
    const episode = await this.work.run(async (tx) => {
      const claimed = await this.store.claim(tx, claim);
      if (claimed !== null) announceStart(tx, claimed);
      return claimed;
    });
    if (episode !== null) await this.begin(episode);
    return episode !== null;
  }

  /** When every run that is in progress now has ended. */
  async ended(): Promise<void> {
    await Promise.all([...this.running.values()].map(({ done }) => done));
  }

  private async takeOn(): Promise<void> {
    while (this.stopped === undefined) {
      try {
        this.nudged = false;
        const full = this.running.size >= this.options.slots;
        if (full || !(await this.takeOne())) await this.idle(full);
      } catch (error) {
        this.say(error);
        await this.idle(false);
      }
    }
  }

  private async begin(episode: ClaimedEpisode): Promise<void> {
    const settings = await this.settings.of(episode.project);
    const time = new RunTime(settings.repair_timeout_s * 1_000);
    // What was being claimed when the end began is given back, not begun.
    if (this.stopped !== undefined) time.stop('cancelled');
    const done = this.repair
      .run(episode, settings, time)
      .catch((error: unknown) => this.say(error, episode))
      .finally(() => {
        time.end();
        this.running.delete(episode.lease);
        this.nudge();
      });
    this.running.set(episode.lease, { episode, time, done });
  }

  private async finish(): Promise<void> {
    this.wake();
    const grace = setTimeout(() => this.stopRuns(), this.options.graceMs);
    await this.loop;
    await this.ended();
    clearTimeout(grace);
    clearInterval(this.renewal);
  }

  private stopRuns(): void {
    for (const { time } of this.running.values()) time.stop('cancelled');
  }

  private async renew(): Promise<void> {
    for (const { episode, time } of [...this.running.values()]) {
      // A database that is away for longer than the lease ends it; until then the run goes on.
      const live = await this.store.renew(episode, LEASE_S).catch(() => true);
      if (!live && this.running.has(episode.lease)) time.stop('lease_lost');
    }
  }

  /** Until something may have changed; a full desk waits for nothing but an end. */
  private async idle(full: boolean): Promise<void> {
    if (this.stopped !== undefined || (this.nudged && !full)) return;
    const woken = new Promise<void>((resolve) => (this.wake = resolve));
    if (full && this.running.size < this.options.slots) return;
    const timer = new AbortController();
    const slept = full ? [] : [sleep(IDLE_MS, undefined, { signal: timer.signal }).catch(() => undefined)];
    await Promise.race([woken, ...slept]);
    timer.abort();
  }

  private say(error: unknown, episode?: ClaimedEpisode): void {
    // A database that is away is said by the consumer.
    if (error instanceof InfrastructureError) return;
    const which = episode === undefined ? 'claiming' : `episode ${episode.episode} (${episode.project}), run ${episode.run}`;
    if (error instanceof LeaseLost) this.logger.warn(`${which}: ${error.message}; another worker takes over`);
    else this.logger.error(`${which}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
}
