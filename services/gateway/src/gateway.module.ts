import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { pricesFromSettings, priceTable } from '#llm/prices';
import type { ServiceRuntime } from '#service';
import { type Access } from './access/access.js';
import { McpController } from './mcp/mcp.controller.js';
import { KeyIssuer } from './access/key-issuer.js';
import { BASE_SETTINGS, PRICES, SettingsController } from './http/settings.controller.js';
import { CostsController } from './http/costs.controller.js';
import { EvalSetController } from './http/evalset.controller.js';
import { KeysController } from './http/keys.controller.js';
import { LoopController } from './http/loop.controller.js';
import { MetricsController } from './http/metrics.controller.js';
import { NoticesController } from './http/notices.controller.js';
import { OperationsController } from './http/operations.controller.js';
import { ScoresController } from './http/scores.controller.js';
import { SettleController } from './http/settle.controller.js';
import { SessionsController } from './http/sessions.controller.js';
import { RegressionsController } from './http/regressions.controller.js';
import { TrialsController } from './http/trials.controller.js';
import { TurnsController } from './http/turns.controller.js';
import { Bodies } from './ingest/bodies.js';
import { RuleDeskController } from './http/rule-desk.controller.js';
import { RulesController } from './http/rules.controller.js';
import { Broker } from './jetstream/broker.js';
import { Ingest } from './ingest/ingest.js';
import { Backlog } from './jetstream/backlog.js';
import { MicroSettle } from './jetstream/micro-settle.js';
import { LiveNotices } from './jetstream/live-notices.js';
import { SystemHealth } from './jetstream/system-health.js';
import { HELD_BODIES, heldBodies } from './otlp/held-body.js';
import { OtlpMetrics } from './otlp/otlp-metrics.js';
import { TracesController } from './otlp/traces.controller.js';
import { TracesIngest } from './otlp/traces-ingest.js';
import { GatewayMetrics } from './operations/gateway-metrics.js';
import { ReadinessCheck } from './operations/readiness.js';
import { CostLedger } from './postgres/costs.js';
import { Database } from './postgres/database.js';
import { EvalCases } from './postgres/eval-cases.js';
import { EvalSetChanges } from './postgres/eval-set-changes.js';
import { type KeyDirectory } from './postgres/key-directory.js';
import { Episodes } from './postgres/episodes.js';
import { Keys } from './postgres/keys.js';
import { LoopLists } from './postgres/loop-lists.js';
import { Notices } from './postgres/notices.js';
import { PendingSessions } from './postgres/pending-sessions.js';
import { Projects } from './postgres/projects.js';
import { ProjectSettingsRows } from './postgres/project-settings.js';
import { ProviderBlockRows } from './postgres/provider-blocks.js';
import { ScoreQueues } from './postgres/score-queues.js';
import { ReceivedTraces } from './postgres/received-traces.js';
import { Sessions } from './postgres/sessions.js';
import { Settlements } from './postgres/settlements.js';
import { StoredScoresReader } from './postgres/stored-scores.js';
import { Regressions } from './postgres/regressions.js';
import { Trials } from './postgres/trials.js';
import { ruleProviders } from './rules/wiring.js';
import { SettleDesk } from './settle/settle-desk.js';
import { settleGauge } from './settle/settle-gauge.js';
import { SettleRequests } from './settle/settle-requests.js';
import { NoticeStreams } from './streams/notice-streams.js';

const controllers = [
  TurnsController,
  SessionsController,
  SettleController,
  ScoresController,
  TracesController,
  NoticesController,
  LoopController,
  RegressionsController,
  TrialsController,
  CostsController,
  MetricsController,
  SettingsController,
  KeysController,
  EvalSetController,
  OperationsController,
  RulesController,
  RuleDeskController,
  McpController,
];

@Module({})
export class GatewayModule {}

/** `access` and `directory` are made before the application, which asks them on every request. */
export function gatewayModule(runtime: ServiceRuntime, access: Access, directory: KeyDirectory): DynamicModule {
  const { nats, publisher, db, work, health, metrics } = runtime.parts;
  const database = new Database(db);
  const broker = new Broker(nats);
  const backlog = new Backlog(nats);
  const blocks = new ProviderBlockRows(database);
  const gatewayMetrics = new GatewayMetrics(metrics, { backlog, queues: new ScoreQueues(database), blocks });
  const keys = new Keys(database, work);
  const notices = new Notices(database);
  const bodies = new Bodies(database);
  const held = heldBodies();
  const traces = new TracesIngest({ publisher, broker, bodies, metrics: new OtlpMetrics(metrics, () => held.inUse) });
  const ingest = new Ingest({
    publisher,
    broker,
    bodies,
    count: gatewayMetrics.count.bind(gatewayMetrics),
  });
  const databaseUrl = runtime.loaded.process.database_url ?? '';
  const system = new SystemHealth(nats);
  const readiness = new ReadinessCheck({ db: database, databaseUrl, broker, backlog, health, system, blocks });
  return {
    module: GatewayModule,
    controllers,
    providers: [
      { provide: Broker, useValue: broker },
      { provide: Ingest, useValue: ingest },
      { provide: TracesIngest, useValue: traces },
      { provide: HELD_BODIES, useValue: held },
      { provide: ReceivedTraces, useValue: new ReceivedTraces(database) },
      { provide: Sessions, useValue: new Sessions(database) },
      ...settleProviders(runtime, database),
      ...validationProviders(runtime, database),
      { provide: StoredScoresReader, useValue: new StoredScoresReader(database) },
      { provide: CostLedger, useValue: new CostLedger(database) },
      { provide: ProviderBlockRows, useValue: blocks },
      { provide: Notices, useValue: notices },
      { provide: NoticeStreams, useValue: new NoticeStreams(broker, new LiveNotices(nats), notices, access) },
      { provide: LoopLists, useValue: new LoopLists(database) },
      { provide: Episodes, useValue: new Episodes(database, work) },
      ...ruleProviders(runtime, database, broker),
      { provide: ProjectSettingsRows, useValue: new ProjectSettingsRows(work) },
      { provide: BASE_SETTINGS, useValue: runtime.loaded.projects },
      { provide: PRICES, useValue: priceTable(pricesFromSettings(runtime.loaded.process.model_prices)) },
      { provide: Keys, useValue: keys },
      { provide: Projects, useValue: new Projects(database, work) },
      { provide: KeyIssuer, useValue: new KeyIssuer(keys, directory) },
      { provide: ReadinessCheck, useValue: readiness },
      { provide: GatewayMetrics, useValue: gatewayMetrics },
    ],
  };
}

function settleProviders({ parts: { nats, settings, metrics } }: ServiceRuntime, database: Database): Provider[] {
  const desk = new SettleDesk(new Settlements(database));
  settleGauge(metrics.registry, () => desk.size);
  const settles = new SettleRequests(settings, desk);
  return [
    { provide: SettleDesk, useValue: desk },
    { provide: SettleRequests, useValue: settles },
    { provide: MicroSettle, useValue: new MicroSettle(nats, settles) },
    { provide: PendingSessions, useValue: new PendingSessions(database) },
  ];
}

/** The eval set, what is run of it, and trials. */
function validationProviders({ parts: { work, settings } }: ServiceRuntime, database: Database): Provider[] {
  return [
    { provide: EvalCases, useValue: new EvalCases(database) },
    { provide: EvalSetChanges, useValue: new EvalSetChanges(work, settings) },
    { provide: Regressions, useValue: new Regressions(database, work) },
    { provide: Trials, useValue: new Trials(database) },
  ];
}
