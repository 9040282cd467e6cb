import { Module, type DynamicModule } from '@nestjs/common';
import type { LoadedSettings } from '#config';
import { StoredCapabilities } from '#llm-store';
import { SettingsDirectory, UnitOfWork } from '#persistence';
import { RuleDirectory } from '#rule-store';
import { startService, type RunningService, type ServiceRuntime } from '#service';
import { DESK_OPTIONS, RepairDesk } from './desk/repair-desk.js';
import { EpisodeOpenedHandler } from './handlers/episode-opened.handler.js';
import { ModelHealth } from './model/model-health.js';
import { RepairModel } from './model/repair-model.js';
import { CandidateWriter } from './postgres/candidate-writer.js';
import { RuleLookup } from './postgres/rule-lookup.js';
import { WorkStore } from './postgres/work-store.js';
import { RepairRun } from './run/repair-run.js';
import { RunEndings } from './run/run-endings.js';
import { TurnJournal } from './run/turn-journal.js';
import { checkSettings } from './start-conditions.js';
import { AddRule } from './tools/add-rule.js';
import { EvidenceTools } from './tools/evidence-tools.js';
import { ResolvingTools } from './tools/resolving-tools.js';
import { RuleReads } from './tools/rule-reads.js';
import { Toolbox } from './tools/toolbox.js';
import { RunTraces } from './traces-out/run-traces.js';
import { TracesEnd } from './traces-out/traces-end.js';

@Module({})
export class RepairModule {}

/** For how long what was read of the rules is believed; what is added is compared under a lock. */
const RULES_FRESH_MS = 1_000;

export function repairModule({ loaded, parts }: ServiceRuntime, stopping: AbortSignal): DynamicModule {
  const { work, settings, health } = parts;
  const { max_concurrent_repairs: slots, shutdown_grace_s: graceS } = loaded.process;
  const { repair_traces_url: url, repair_traces_headers: headers } = loaded.process;
  const directory = new RuleDirectory({ read: work.read.bind(work), freshForMs: RULES_FRESH_MS });
  const model = new RepairModel(loaded.process, new StoredCapabilities(work, 'repair'), new ModelHealth(health));
  return {
    module: RepairModule,
    controllers: [EpisodeOpenedHandler],
    providers: [
      { provide: UnitOfWork, useValue: work },
      { provide: SettingsDirectory, useValue: settings },
      { provide: RuleDirectory, useValue: directory },
      { provide: RepairModel, useValue: model },
      { provide: RunTraces, useValue: new RunTraces(url === undefined ? null : { url, headers }) },
      { provide: DESK_OPTIONS, useValue: { slots, graceMs: graceS * 1_000, stopping } },
      ...[WorkStore, CandidateWriter, RuleLookup],
      ...[EvidenceTools, RuleReads, AddRule, ResolvingTools, Toolbox],
      ...[RunEndings, TurnJournal, RepairRun, RepairDesk, TracesEnd],
    ],
  };
}

/** @throws SettingsError for settings under which nothing could be repaired, or nothing paid */
export async function startRepair(loaded: LoadedSettings): Promise<RunningService> {
  checkSettings(loaded);
  return startService('repair', repairModule, loaded);
}
