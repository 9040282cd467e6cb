import { Inject, Injectable } from '@nestjs/common';
import type { ProjectSettings } from '#contracts';
import { SettingsDirectory } from '#persistence';
import type { AcceptedTurn } from './accepted-turn.js';
import type { AdmissionRules } from './admission-rules.js';
import { Lanes } from './jobs/lanes.js';
import type { ConfiguredTurn } from './postgres/turn-rows.js';
import { turnConfig, type NamedConfig } from './turn-config.js';
import { Verifiers } from './verifiers.js';

/** Gives a turn what its project's settings decide about it, as they are now. */
@Injectable()
export class TurnSetup {
  /** What a project's settings decide, by the settings object itself: a change makes a new object. */
  private readonly configs = new WeakMap<ProjectSettings, NamedConfig & { readonly rules: AdmissionRules }>();

  constructor(
    private readonly settings: SettingsDirectory,
    private readonly verifiers: Verifiers,
    @Inject(Lanes) private readonly lanes: Pick<Lanes, 'dearestValueUsd'>,
  ) {}

  async configure(accepted: AcceptedTurn): Promise<ConfiguredTurn> {
    const settings = await this.settings.of(accepted.project);
    let known = this.configs.get(settings);
    if (known === undefined) {
      known = { ...turnConfig(settings), rules: { ...settings, valueUsd: this.lanes.dearestValueUsd(settings) } };
      this.configs.set(settings, known);
    }
    const { id: configId, config, rules } = known;
    const { trace_wait_s: traceWaitS, accept_host_outcome: acceptHostOutcome } = settings;
    const verify = this.verifiers.shouldAsk(accepted.project);
    return { ...accepted, configId, config, traceWaitS, acceptHostOutcome, rules, verify };
  }
}
