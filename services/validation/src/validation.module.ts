import { Module, type DynamicModule } from '@nestjs/common';
import type { LoadedSettings } from '#config';
import { SettingsDirectory, UnitOfWork } from '#persistence';
import { startService, type RunningService, type ServiceRuntime } from '#service';
import { RuleExposedHandler } from './handlers/rule-exposed.handler.js';
import { SessionEndedHandler } from './handlers/session-ended.handler.js';
import { TrialTimer } from './handlers/trial-timer.js';
import { TurnEvaluatedHandler } from './handlers/turn-evaluated.handler.js';
import { EntryStore } from './postgres/entry-store.js';
import { ExposureStore } from './postgres/exposure-store.js';
import { TrialQueue } from './postgres/trial-queue.js';
import { TrialStore } from './postgres/trial-store.js';
import { VerdictStore } from './postgres/verdict-store.js';
import { TrialDesk } from './trials/trial-desk.js';

/** Live trials decide which rules live. It runs no replays yet. */
@Module({})
export class ValidationModule {}

export function validationModule({ parts }: ServiceRuntime): DynamicModule {
  return {
    module: ValidationModule,
    controllers: [SessionEndedHandler, RuleExposedHandler, TurnEvaluatedHandler],
    providers: [
      { provide: UnitOfWork, useValue: parts.work },
      { provide: SettingsDirectory, useValue: parts.settings },
      ExposureStore,
      EntryStore,
      TrialStore,
      TrialQueue,
      VerdictStore,
      TrialDesk,
      TrialTimer,
    ],
  };
}

export function startValidation(loaded: LoadedSettings): Promise<RunningService> {
  return startService('validation', validationModule, loaded);
}
