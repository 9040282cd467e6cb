import type { SettleAnswer, SettleRequest } from '#contracts';
import type { SettingsDirectory } from '#persistence';
import type { SettleDesk } from './settle-desk.js';

/** Questions as they come over HTTP and NATS; how long one waits is the project's to say where the question does not. */
export class SettleRequests {
  constructor(
    private readonly settings: SettingsDirectory,
    private readonly desk: SettleDesk,
  ) {}

  async settle(project: string, request: SettleRequest, signal: AbortSignal): Promise<SettleAnswer> {
    const { session_id: session, turn_index: turn, timeout_s: wanted } = request;
    const timeoutS = wanted ?? (await this.settings.of(project)).barrier_timeout_s;
    return this.desk.settle({ project, session, turn: turn ?? undefined, timeoutS, signal });
  }

  /** Whether there is such a project: who asks over NATS names it. */
  knows(project: string): Promise<boolean> {
    return this.settings.exists(project);
  }
}
