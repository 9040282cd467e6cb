import { Module, type DynamicModule } from '@nestjs/common';
import type { LoadedSettings } from '#config';
import { UnitOfWork } from '#persistence';
import { startService, type RunningService, type ServiceRuntime } from '#service';
import { SessionEndedHandler } from './handlers/session-ended.handler.js';

/** So far validation keeps which sessions have ended, a fact that trials will need. It runs no trials and no replays yet. */
@Module({})
export class ValidationModule {}

export function validationModule({ parts }: ServiceRuntime): DynamicModule {
  return {
    module: ValidationModule,
    controllers: [SessionEndedHandler],
    providers: [{ provide: UnitOfWork, useValue: parts.work }],
  };
}

export function startValidation(loaded: LoadedSettings): Promise<RunningService> {
  return startService('validation', validationModule, loaded);
}
