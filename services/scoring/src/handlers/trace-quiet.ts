import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { SettingsDirectory, UnitOfWork } from '#persistence';
import { everySecond, type Repetition } from '#service';
import { Lanes } from '../jobs/lanes.js';
import { decideQuiet, QUIET_ROWS, quietTraces, type RootTurn } from '../postgres/root-turns.js';
import { byKey } from '../accepted-turn.js';
import { TurnStore } from '../postgres/turn-store.js';
import { TurnSetup } from '../turn-setup.js';

/** Traces that nobody has claimed become turns, or are said to be nobody's, when they have been quiet for a while. */
@Injectable()
export class TraceQuiet implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(TraceQuiet.name);
  private repetition: Repetition | undefined;
  private stopping = false;

  constructor(
    private readonly work: UnitOfWork,
    private readonly settings: SettingsDirectory,
    private readonly turns: TurnStore,
    private readonly setup: TurnSetup,
    @Inject(Lanes) private readonly lanes: Pick<Lanes, 'nudge'>,
  ) {}

  onApplicationBootstrap(): void {
    this.repetition = everySecond(
      () => this.tick(),
      (error) => this.logger.debug(error instanceof Error ? error.message : String(error)),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await this.repetition?.stop();
  }

  async tick(): Promise<void> {
    let looked = QUIET_ROWS;
    while (looked >= QUIET_ROWS && !this.stopping) looked = await this.page();
  }

  private async page(): Promise<number> {
    const settings = await this.settings.all();
    const defaults = await this.settings.of('');
    const looked = await this.work.run(async (tx) => {
      const quiet = await quietTraces(tx);
      const made = await decideQuiet(tx, quiet, (project) => settings.get(project) ?? defaults);
      if (made.length > 0) await this.accept(tx, made);
      return quiet.length;
    });
    if (looked > 0) this.lanes.nudge();
    return looked;
  }

  private async accept(tx: Parameters<TurnStore['accept']>[0], made: readonly RootTurn[]): Promise<void> {
    const configured = await Promise.all(
      made.map(async (one) => ({ ...(await this.setup.configure(one)), partial: one.partial })),
    );
    await this.turns.accept(tx, configured.sort(byKey));
  }
}
