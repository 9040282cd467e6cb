import { Module, type DynamicModule } from '@nestjs/common';
import type { LoadedSettings } from '#config';
import { SettingsDirectory, UnitOfWork } from '#persistence';
import { startService, type RunningService, type ServiceRuntime } from '#service';
import { ScorePostedHandler } from './handlers/score-posted.handler.js';
import { TierRequestedHandler } from './handlers/tier-requested.handler.js';
import { TurnEndedHandler } from './handlers/turn-ended.handler.js';
import { TraceWait } from './handlers/trace-wait.js';
import { ScoreStore } from './postgres/score-store.js';
import { TurnStore } from './postgres/turn-store.js';

@Module({})
export class ScoringModule {}

export function scoringModule({ parts }: ServiceRuntime): DynamicModule {
  return {
    module: ScoringModule,
    controllers: [TurnEndedHandler, TierRequestedHandler, ScorePostedHandler],
    providers: [
      { provide: UnitOfWork, useValue: parts.work },
      { provide: SettingsDirectory, useValue: parts.settings },
      TurnStore,
      ScoreStore,
      TraceWait,
    ],
  };
}

export function startScoring(loaded: LoadedSettings): Promise<RunningService> {
  return startService('scoring', scoringModule, loaded);
}
