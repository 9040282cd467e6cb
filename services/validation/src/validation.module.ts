import { Module, type DynamicModule } from '@nestjs/common';
import type { LoadedSettings } from '#config';
import { UnitOfWork } from '#persistence';
import { startService, type RunningService, type ServiceRuntime } from '#service';
import { HoldTimer } from './handlers/hold-timer.js';
import { RuleExposedHandler } from './handlers/rule-exposed.handler.js';
import { SessionEndedHandler } from './handlers/session-ended.handler.js';

/**
 * So far validation keeps what trials will need: which sessions have ended, and which rules each was shown or would have been. It lets
 * held candidates go when nobody objected. It runs no trials and no replays yet.
 */
@Module({})
export class ValidationModule {}

export function validationModule({ parts }: ServiceRuntime): DynamicModule {
  return {
    module: ValidationModule,
    controllers: [SessionEndedHandler, RuleExposedHandler],
    providers: [{ provide: UnitOfWork, useValue: parts.work }, HoldTimer],
  };
}

export function startValidation(loaded: LoadedSettings): Promise<RunningService> {
  return startService('validation', validationModule, loaded);
}
