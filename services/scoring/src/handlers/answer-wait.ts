import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { everySecond, type Repetition } from '#service';
import { ProviderHealth } from '../jobs/provider-health.js';
import { JobStore } from '../postgres/job-store.js';
import { ProviderStore } from '../postgres/provider-store.js';
import { VerifierStore } from '../postgres/verifier-store.js';
import { Verifiers } from '../verifiers.js';
import { messageOf, quietly } from './failures.js';

/** What one run answers at most before it lets the next begin. */
const PAGES = 100;

/**
 * The time-outs of what waits for evaluators: a tier is answered with the rest pending, a value that cannot be had is given up, a
 * provider that nobody asks any more is forgotten.
 */
@Injectable()
export class AnswerWait implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(AnswerWait.name);
  private repetition: Repetition | undefined;

  constructor(
    private readonly jobs: JobStore,
    private readonly verifierStore: VerifierStore,
    private readonly verifiers: Verifiers,
    private readonly providers: ProviderStore,
    private readonly health: ProviderHealth,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.quietly(() => this.refresh());
    this.repetition = everySecond(
      () => this.tick(),
      (error) => this.logger.debug(messageOf(error)),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.repetition?.stop();
  }

  async tick(): Promise<void> {
    await this.quietly(() => allPages(() => this.jobs.answerDue()));
    await this.quietly(() => allPages(() => this.jobs.expire()));
    await this.quietly(() => this.lookAtProviders());
    await this.quietly(() => this.refresh());
  }

  private async lookAtProviders(): Promise<void> {
    await this.providers.forgetUnasked();
    if (this.health.isTroubled) this.health.takeBack(await this.providers.troubles());
  }

  private async refresh(): Promise<void> {
    this.verifiers.refresh(await this.verifierStore.known());
  }

  private quietly(job: () => Promise<void>): Promise<void> {
    return quietly(this.logger, 'time-outs of scores', job);
  }
}

async function allPages(page: () => Promise<number>): Promise<void> {
  for (let left = PAGES; left > 0 && (await page()) > 0; left -= 1);
}
