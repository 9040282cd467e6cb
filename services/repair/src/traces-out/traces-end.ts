import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { RepairDesk } from '../desk/repair-desk.js';
import { RunTraces } from './run-traces.js';

/** At the end of the process, when the last run has ended, waits for the traces that are on their way. */
@Injectable()
export class TracesEnd implements OnApplicationShutdown {
  constructor(
    private readonly desk: RepairDesk,
    @Inject(RunTraces) private readonly traces: RunTraces,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.desk.stop();
    await this.traces.flush();
  }
}
