import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { SettingsError, type LoadedSettings } from '#config';
import { projectSettings } from '#contracts';
import { pricesFromSettings, priceTable, unpriced } from '#llm/prices';
import { StoredCapabilities } from '#llm-store';
import { SettingsDirectory, UnitOfWork } from '#persistence';
import { startService, type RunningService, type ServiceRuntime } from '#service';
import { AnswerWait } from './handlers/answer-wait.js';
import { ReplayTurnHandler } from './handlers/replay-turn.handler.js';
import { ScorePostedHandler } from './handlers/score-posted.handler.js';
import { TierRequestedHandler } from './handlers/tier-requested.handler.js';
import { TurnEndedHandler } from './handlers/turn-ended.handler.js';
import { SCORES_OUT, ScoresOutHandler } from './handlers/scores-out.handler.js';
import { SpansReceivedHandler } from './handlers/spans-received.handler.js';
import { TraceQuiet } from './handlers/trace-quiet.js';
import { TraceWait } from './handlers/trace-wait.js';
import { Lanes } from './jobs/lanes.js';
import { laneTasks } from './jobs/lane-tasks.js';
import { ModelServices } from './jobs/model-services.js';
import { ProviderHealth } from './jobs/provider-health.js';
import { JobStore } from './postgres/job-store.js';
import { ProviderStore } from './postgres/provider-store.js';
import { ScoreStore } from './postgres/score-store.js';
import { TurnStore } from './postgres/turn-store.js';
import { VerifierStore } from './postgres/verifier-store.js';
import { TurnSetup } from './turn-setup.js';
import { Verifiers } from './verifiers.js';

@Module({})
export class ScoringModule {}

export function scoringModule(runtime: ServiceRuntime, stopping: AbortSignal): DynamicModule {
  const { work, settings, health } = runtime.parts;
  const { scores_out_url: scoresOut, scores_out_headers: headers } = runtime.loaded.process;
  return {
    module: ScoringModule,
    controllers: [
      TurnEndedHandler,
      ReplayTurnHandler,
      TierRequestedHandler,
      ScorePostedHandler,
      SpansReceivedHandler,
      ...(scoresOut === undefined ? [] : [ScoresOutHandler]),
    ],
    providers: [
      { provide: UnitOfWork, useValue: work },
      { provide: SettingsDirectory, useValue: settings },
      { provide: Verifiers, useValue: new Verifiers() },
      { provide: ProviderHealth, useValue: new ProviderHealth(health) },
      ScoreStore,
      TurnStore,
      JobStore,
      VerifierStore,
      ProviderStore,
      TurnSetup,
      TraceWait,
      TraceQuiet,
      AnswerWait,
      lanes(runtime, stopping),
      ...(scoresOut === undefined ? [] : [{ provide: SCORES_OUT, useValue: { url: scoresOut, headers } }]),
    ],
  };
}

function lanes(runtime: ServiceRuntime, stopping: AbortSignal): Provider {
  const { work, settings } = runtime.parts;
  const { max_concurrent_evals: concurrency, shutdown_grace_s: graceS } = runtime.loaded.process;
  return {
    provide: Lanes,
    inject: [JobStore, VerifierStore, Verifiers, ProviderHealth],
    useFactory: (store: JobStore, verifierStore: VerifierStore, verifiers: Verifiers, health: ProviderHealth): Lanes => {
      const models = new ModelServices(runtime.loaded.process, new StoredCapabilities(work, 'scoring'));
      const tasks = laneTasks(runtime, { store, verifierStore, verifiers, models, health });
      return new Lanes(store, settings, tasks, { concurrency, graceMs: graceS * 1000, stopping, models });
    },
  };
}

/** @throws SettingsError for settings under which no judge could be paid */
export async function startScoring(loaded: LoadedSettings): Promise<RunningService> {
  const problem = unpriced(projectSettings.parse(loaded.projects), priceTable(pricesFromSettings(loaded.process.model_prices)));
  if (problem !== null) throw new SettingsError(`${problem.setting}: ${problem.message}`);
  return startService('scoring', scoringModule, loaded);
}
