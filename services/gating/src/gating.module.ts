import { Module, type DynamicModule } from '@nestjs/common';
import type { LoadedSettings } from '#config';
import { UnitOfWork } from '#persistence';
import { startService, type RunningService, type ServiceRuntime } from '#service';
import { TraceScoredHandler } from './handlers/trace-scored.handler.js';
import { SessionStore } from './postgres/session-store.js';

@Module({})
export class GatingModule {}

export function gatingModule({ parts }: ServiceRuntime): DynamicModule {
  return {
    module: GatingModule,
    controllers: [TraceScoredHandler],
    providers: [{ provide: UnitOfWork, useValue: parts.work }, SessionStore],
  };
}

export function startGating(loaded: LoadedSettings): Promise<RunningService> {
  return startService('gating', gatingModule, loaded);
}
