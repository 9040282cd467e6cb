import { processSettings, type ProcessSettings, type ProjectSettingsPatch } from '#contracts';
import type { Lane } from '#domain/scoring';
import { StoredCapabilities } from '#llm-store';
import { createDataSource, SettingsDirectory, UnitOfWork } from '#persistence';
import { Health } from '#observability';
import { randomUUID } from 'node:crypto';
import { AnswerWait } from '../../services/scoring/src/handlers/answer-wait.js';
import { Lanes, type LaneTasks } from '../../services/scoring/src/jobs/lanes.js';
import { laneTasks } from '../../services/scoring/src/jobs/lane-tasks.js';
import { ProviderHealth } from '../../services/scoring/src/jobs/provider-health.js';
import { ModelServices } from '../../services/scoring/src/jobs/model-services.js';
import { JobStore, type LoadedJob } from '../../services/scoring/src/postgres/job-store.js';
import { ProviderStore } from '../../services/scoring/src/postgres/provider-store.js';
import { ScoreStore } from '../../services/scoring/src/postgres/score-store.js';
import { VerifierStore } from '../../services/scoring/src/postgres/verifier-store.js';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Pipeline } from './pipeline.js';

/**
 * A scoring worker of its own over the pipeline's database: its jobs run when the test says so, one claim after the other, with
 * the very tasks of the service. Several desks are several processes.
 */
export class JobDesk {
  readonly store: JobStore;
  readonly abort = new AbortController();

  private constructor(
    readonly work: UnitOfWork,
    readonly settings: SettingsDirectory,
    readonly tasks: LaneTasks,
    readonly models: ModelServices,
    readonly health: Health,
    private readonly rest: { readonly everySecond: AnswerWait; readonly end: () => Promise<void> },
  ) {
    this.store = new JobStore(work);
  }

  static async open(
    pipeline: Pipeline,
    patch: Partial<ProcessSettings> = {},
    { nats, base = {} }: { nats?: NatsConnection; base?: ProjectSettingsPatch } = {},
  ): Promise<JobDesk> {
    const db = await createDataSource({ url: pipeline.db.url, role: 'fm_scoring', name: 'desk' }).initialize();
    const work = new UnitOfWork(db, { publish: (messages) => Promise.resolve(pipeline.received(messages)) }, 'scoring');
    const settings = new SettingsDirectory(db, base);
    const process = processSettings.parse(patch);
    const models = new ModelServices(process, new StoredCapabilities(work, 'scoring'));
    const health = new Health();
    const providers = new ProviderHealth(health);
    const runtime = { loaded: { process }, parts: { health, settings, nats } } as never;
    const store = new JobStore(work);
    const parts = {
      store,
      verifierStore: new VerifierStore(work, new ScoreStore()),
      verifiers: pipeline.verifiers,
      models,
      health: providers,
    };
    const end = async (): Promise<void> => {
      await models.close();
      await db.destroy();
    };
    const everySecond = new AnswerWait(store, parts.verifierStore, parts.verifiers, new ProviderStore(work), providers);
    return new JobDesk(work, settings, laneTasks(runtime, parts), models, health, { everySecond, end });
  }

  /** What its process does every second. */
  get everySecond(): AnswerWait {
    return this.rest.everySecond;
  }

  /** Takes jobs and holds them. */
  async take(lane: Lane, most = 8): Promise<LoadedJob[]> {
    const limits = await this.lanes.limitsOf(lane);
    return this.store.load(await this.store.claim({ lane, most, lease: randomUUID(), limits }));
  }

  /** Does what was taken. */
  async run(lane: Lane, jobs: readonly LoadedJob[]): Promise<void> {
    await Promise.all(jobs.map((job) => this.tasks[lane].run(job, (evaluation) => evaluation(), this.abort.signal)));
  }

  get lanes(): Lanes {
    return new Lanes(this.store, this.settings, this.tasks, { concurrency: 8, graceMs: 0, models: this.models });
  }

  /** Claims once and does what was claimed; returns how many jobs. */
  async once(lane: Lane, most = 8): Promise<number> {
    const jobs = await this.take(lane, most);
    await this.run(lane, jobs);
    return jobs.length;
  }

  /** Until nothing can be claimed. */
  async all(lane: Lane): Promise<number> {
    let done = 0;
    for (let claimed = -1; claimed !== 0; done += claimed) claimed = await this.once(lane);
    return done;
  }

  close(): Promise<void> {
    return this.rest.end();
  }
}
