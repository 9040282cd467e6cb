import { Module, type DynamicModule } from '@nestjs/common';
import type { LoadedSettings } from '#config';
import { SettingsDirectory, UnitOfWork } from '#persistence';
import { startService, type RunningService, type ServiceRuntime } from '#service';
import { HoldTimer } from './handlers/hold-timer.js';
import { ReplayFinishedHandler } from './handlers/replay-finished.handler.js';
import { ReplayScoredHandler } from './handlers/replay-scored.handler.js';
import { ReplayStartedHandler } from './handlers/replay-started.handler.js';
import { ReplayTimer } from './handlers/replay-timer.js';
import { RuleExposedHandler } from './handlers/rule-exposed.handler.js';
import { SessionEndedHandler } from './handlers/session-ended.handler.js';
import { TrialTimer } from './handlers/trial-timer.js';
import { TurnEvaluatedHandler } from './handlers/turn-evaluated.handler.js';
import { ReplayQueue } from './jetstream/replay-queue.js';
import { CaseStore } from './postgres/case-store.js';
import { EntryStore } from './postgres/entry-store.js';
import { ExposureStore } from './postgres/exposure-store.js';
import { PairStore } from './postgres/pair-store.js';
import { RegressionStore } from './postgres/regression-store.js';
import { ReplayStore } from './postgres/replay-store.js';
import { TrialQueue } from './postgres/trial-queue.js';
import { TrialStore } from './postgres/trial-store.js';
import { VerdictStore } from './postgres/verdict-store.js';
import { PairDesk } from './replays/pair-desk.js';
import { PairStart } from './replays/pair-start.js';
import { RegressionDesk } from './replays/regression-desk.js';
import { ReplayDesk } from './replays/replay-desk.js';
import { Workers } from './replays/workers.js';
import { TrialDesk } from './trials/trial-desk.js';

/** Live trials and replays decide which rules live. */
@Module({})
export class ValidationModule {}

export function validationModule({ parts }: ServiceRuntime): DynamicModule {
  return {
    module: ValidationModule,
    controllers: [
      SessionEndedHandler,
      RuleExposedHandler,
      TurnEvaluatedHandler,
      ReplayStartedHandler,
      ReplayFinishedHandler,
      ReplayScoredHandler,
    ],
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
      HoldTimer,
      CaseStore,
      PairStore,
      RegressionStore,
      ReplayStore,
      ReplayDesk,
      PairStart,
      PairDesk,
      RegressionDesk,
      ReplayTimer,
      { provide: Workers, useValue: new Workers(parts.work, new ReplayQueue(parts.nats)) },
    ],
  };
}

export function startValidation(loaded: LoadedSettings): Promise<RunningService> {
  return startService('validation', validationModule, loaded);
}
