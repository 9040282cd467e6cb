import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { SettingsDirectory, UnitOfWork } from '#persistence';
import { everySecond, type Repetition } from '#service';
import { Lanes } from '../jobs/lanes.js';
import { takeEntriesForRoots } from '../postgres/otel-spans.js';
import {
  cannotBeTurn,
  decideQuiet,
  namedWereQuiet,
  quietTraces,
  type QuietTrace,
  type RootTurn,
  type SettingsOf,
} from '../postgres/root-turns.js';
import { byKey } from '../accepted-turn.js';
import { TurnStore } from '../postgres/turn-store.js';
import { TurnSetup } from '../turn-setup.js';
import { mayPass, messageOf, quietly } from './failures.js';

/**
 * Traces that nobody has claimed become turns, or are said to be nobody's, when they have been quiet for a while. Those that turns wait
 * for may be whole by then without the parent that they name.
 */
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
      () => quietly(this.logger, 'traces that have been quiet', () => this.tick()),
      (error) => this.logger.debug(messageOf(error)),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await this.repetition?.stop();
  }

  async tick(): Promise<void> {
    let looked = 1;
    while (looked > 0 && !this.stopping) looked = await this.page();
  }

  /** One trace that cannot be made a turn must not keep the others waiting: then each is decided for itself. */
  private async page(): Promise<number> {
    const settings = await this.settings.all();
    const defaults = await this.settings.of('');
    const settingsOf: SettingsOf = (project) => settings.get(project) ?? defaults;
    const quiet = await this.work.run((tx) => quietTraces(tx));
    try {
      await this.decide(quiet, settingsOf);
    } catch (error) {
      if (mayPass(error)) throw error;
      for (const trace of quiet) await this.one(trace, settingsOf);
    }
    if (quiet.length > 0) this.lanes.nudge();
    return quiet.length;
  }

  private async one(trace: QuietTrace, settingsOf: SettingsOf): Promise<void> {
    try {
      await this.decide([trace], settingsOf);
    } catch (error) {
      if (mayPass(error)) throw error;
      await this.work.run((tx) => (trace.named ? namedWereQuiet(tx, [trace]) : cannotBeTurn(tx, trace, messageOf(error))));
      this.logger.warn(`trace ${trace.trace_id} of ${trace.project} cannot be made a turn: ${messageOf(error)}`);
    }
  }

  /** In transactions of their own: turns are locked before traces. Killed in between, the traces are looked at again. */
  private async decide(quiet: readonly QuietTrace[], settingsOf: SettingsOf): Promise<void> {
    await this.work.run((tx) => takeEntriesForRoots(tx, quiet));
    await this.work.run(async (tx) => {
      const made = await decideQuiet(tx, quiet, settingsOf);
      if (made.length > 0) await this.accept(tx, made);
    });
    const named = quiet.filter((trace) => trace.named);
    if (named.length === 0) return;
    await this.work.run(async (tx) => {
      await this.turns.spansCame(tx, named);
      await namedWereQuiet(tx, named);
    });
  }

  private async accept(tx: Parameters<TurnStore['accept']>[0], made: readonly RootTurn[]): Promise<void> {
    const configured = await Promise.all(
      made.map(async (one) => ({ ...(await this.setup.configure(one)), ofTrace: { partial: one.partial } })),
    );
    await this.turns.accept(tx, configured.sort(byKey));
  }
}
