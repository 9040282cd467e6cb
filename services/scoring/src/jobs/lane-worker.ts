import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lane } from '#domain/scoring';
import type { ClaimedJob, CostLimit } from '../postgres/job-claims.js';
import type { JobStore, LoadedJob } from '../postgres/job-store.js';
import { Slots } from './slots.js';

/** Runs one evaluation when there is room for it. */
export type Slot = <T>(evaluation: () => Promise<T>) => Promise<T>;

/** Does one claimed job and records what came of it. */
export interface LaneTask {
  run(job: LoadedJob, slot: Slot, signal: AbortSignal): Promise<void>;
}

export interface LaneOptions {
  readonly lane: Lane;
  /** Evaluations in progress at once. */
  readonly concurrency: number;
  readonly task: LaneTask;
  readonly limits: () => Promise<readonly CostLimit[]>;
  /** Whether there are several projects: then none of them may have all slots, however many jobs it has and however long they take. */
  readonly shared?: () => Promise<boolean>;
  /** `job`: the one that failed in a way of its own, and is taken again when its lease is over. */
  readonly onError: (error: unknown, job?: ClaimedJob) => void;
}

const IDLE_MS = 1_000;
const PAUSE_MS = 1_000;
const RENEW_MS = 20_000;

/**
 * Works through one lane of jobs: claims as many as there is room for, a few ahead so that no slot waits for the database,
 * and keeps its leases alive. Several processes share a lane.
 */
export class LaneWorker {
  private readonly slots: Slots;
  private shared = false;
  private readonly held = new Map<string, ClaimedJob>();
  private readonly running = new Set<Promise<void>>();
  private readonly abort = new AbortController();
  private stopping = false;
  private loop: Promise<void> = Promise.resolve();
  private renewal: NodeJS.Timeout | undefined;
  private wake: () => void = () => undefined;
  private nudged = false;

  constructor(
    private readonly store: JobStore,
    private readonly options: LaneOptions,
  ) {
    this.slots = new Slots(options.concurrency, () => options.concurrency - this.kept);
    // Every evaluation in progress listens; there are as many as there are slots.
    setMaxListeners(0, this.abort.signal);
  }

  start(): void {
    this.renewal = setInterval(() => void this.renew(), RENEW_MS);
    this.loop = this.run();
  }

  /** There may be a job. Heard while a claim is under way too, which may have looked too early to see it. */
  nudge(): void {
    this.nudged = true;
    this.wake();
  }

  /** No further claim; what is in progress may take `graceMs` from now, then its jobs are given back. */
  async stop(graceMs: number): Promise<void> {
    this.stopping = true;
    this.wake();
    const grace = setTimeout(() => this.abort.abort(), graceMs);
    await this.loop;
    await Promise.all(this.running);
    clearTimeout(grace);
    clearInterval(this.renewal);
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      try {
        this.nudged = false;
        const room = this.room();
        const taken = room > 0 ? await this.take(room) : 0;
        if (taken === 0) await this.idle(room > 0 ? IDLE_MS : undefined);
      } catch (error) {
        this.options.onError(error);
        await this.idle(PAUSE_MS);
      }
    }
  }

  /** Slots that are kept for others than the project that would take them all. */
  private get kept(): number {
    return this.shared && this.options.concurrency > 1 ? 1 : 0;
  }

  /** A quarter more than run at once: what is claimed ahead waits here instead of in the database. */
  private get capacity(): number {
    return this.options.concurrency + Math.ceil(this.options.concurrency / 4);
  }

  /** What a project holds beyond its share waits for itself, and is in nobody's way. */
  private room(): number {
    const share = this.kept === 0 ? Infinity : this.capacity - this.kept;
    return [...this.slots.held.values()].reduce((left, held) => left - Math.min(held, share), this.capacity);
  }

  private async take(room: number): Promise<number> {
    const { lane, limits, shared } = this.options;
    if (!(await this.store.hasWork(lane))) return 0;
    this.shared = (await shared?.()) ?? false;
    const claim = {
      ...{ lane, most: room, lease: randomUUID(), limits: await limits() },
      ...{ held: this.slots.held, share: this.kept === 0 ? null : this.capacity - this.kept },
    };
    // When they cannot be loaded, the leases run out by themselves.
    const loaded = await this.store.load(await this.store.claim(claim));
    for (const job of loaded) this.begin(job);
    return loaded.length;
  }

  private begin(job: LoadedJob): void {
    this.held.set(keyOf(job.job), job.job);
    // What was being claimed when the end began is given back, not begun.
    const signal = this.stopping ? AbortSignal.abort() : this.abort.signal;
    const done = this.options.task
      .run(job, (evaluation) => this.slots.run(job.job.project, evaluation).finally(() => this.wake()), signal)
      .catch((error: unknown) => this.options.onError(error, job.job))
      .finally(() => {
        this.running.delete(done);
        this.held.delete(keyOf(job.job));
        this.wake();
      });
    this.running.add(done);
  }

  private async renew(): Promise<void> {
    if (this.held.size > 0) await this.store.renew([...this.held.values()]).catch(this.options.onError);
  }

  /** Until something may have changed, or `ms` are over. */
  private async idle(ms: number | undefined): Promise<void> {
    if (this.stopping || (this.nudged && ms !== undefined)) return;
    const woken = new Promise<void>((resolve) => (this.wake = resolve));
    const timer = new AbortController();
    const slept = ms === undefined ? [] : [sleep(ms, undefined, { signal: timer.signal }).catch(() => undefined)];
    await Promise.race([woken, ...slept]);
    timer.abort();
  }
}

function keyOf({ s, t, tier, provider }: ClaimedJob): string {
  return `${s}|${t}|${tier}|${provider}`;
}
