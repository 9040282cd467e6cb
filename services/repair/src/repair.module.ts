import { Injectable, Logger, Module, type DynamicModule, type OnApplicationBootstrap } from '@nestjs/common';
import type { LoadedSettings } from '#config';
import { startService, type RunningService, type ServiceRuntime } from '#service';

/** Says once what this version does not do: episodes are opened and wait in FM_EPISODES; nobody repairs them yet. */
@Injectable()
export class RepairNotice implements OnApplicationBootstrap {
  private readonly logger = new Logger('repair');

  onApplicationBootstrap(): void {
    this.logger.warn(
      'repair is not built yet: episodes wait in the stream FM_EPISODES and in the list of episodes, and no model is called',
    );
  }
}

@Module({})
export class RepairModule {}

export function repairModule(_runtime: ServiceRuntime): DynamicModule {
  return { module: RepairModule, providers: [RepairNotice] };
}

export function startRepair(loaded: LoadedSettings): Promise<RunningService> {
  return startService('repair', repairModule, loaded);
}
