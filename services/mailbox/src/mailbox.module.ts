import { Module, type DynamicModule } from '@nestjs/common';
import type { LoadedSettings } from '#config';
import { SettingsDirectory, UnitOfWork } from '#persistence';
import { startService, type RunningService, type ServiceRuntime } from '#service';
import { AlertBatch } from './alert-batch.js';
import { EpisodeFormation } from './episode-formation.js';
import { BreakerTimer } from './handlers/breaker-timer.js';
import { TurnEvaluatedHandler } from './handlers/turn-evaluated.handler.js';
import { AlertStore } from './postgres/alert-store.js';
import { EpisodeStore } from './postgres/episode-store.js';
import { EvalCaseStore } from './postgres/eval-case-store.js';
import { NoticeStore } from './postgres/notice-store.js';
import { PostedNotices } from './posted-notices.js';

@Module({})
export class MailboxModule {}

export function mailboxModule({ parts }: ServiceRuntime): DynamicModule {
  return {
    module: MailboxModule,
    controllers: [TurnEvaluatedHandler],
    providers: [
      { provide: UnitOfWork, useValue: parts.work },
      { provide: SettingsDirectory, useValue: parts.settings },
      AlertStore,
      NoticeStore,
      EpisodeStore,
      EvalCaseStore,
      PostedNotices,
      EpisodeFormation,
      AlertBatch,
      BreakerTimer,
    ],
  };
}

export function startMailbox(loaded: LoadedSettings): Promise<RunningService> {
  return startService('mailbox', mailboxModule, loaded);
}
