import { Module, type DynamicModule } from '@nestjs/common';
import { pricesFromSettings, priceTable } from '#llm/prices';
import type { ServiceRuntime } from '#service';
import { type Access } from './access/access.js';
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
import { SessionsController } from './http/sessions.controller.js';
import { TurnsController } from './http/turns.controller.js';
import { Bodies } from './ingest/bodies.js';
import { Broker } from './jetstream/broker.js';
import { Ingest } from './ingest/ingest.js';
import { Backlog } from './jetstream/backlog.js';
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
import { Keys } from './postgres/keys.js';
import { LoopLists } from './postgres/loop-lists.js';
import { Notices } from './postgres/notices.js';
import { Projects } from './postgres/projects.js';
import { ProjectSettingsRows } from './postgres/project-settings.js';
import { ProviderBlockRows } from './postgres/provider-blocks.js';
import { ScoreQueues } from './postgres/score-queues.js';
import { ReceivedTraces } from './postgres/received-traces.js';
import { Sessions } from './postgres/sessions.js';
import { StoredScoresReader } from './postgres/stored-scores.js';
import { NoticeStreams } from './streams/notice-streams.js';

const controllers = [
  TurnsController,
  SessionsController,
  ScoresController,
  TracesController,
  NoticesController,
  LoopController,
  CostsController,
  MetricsController,
  SettingsController,
  KeysController,
  EvalSetController,
  OperationsController,
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
      { provide: StoredScoresReader, useValue: new StoredScoresReader(database) },
      { provide: CostLedger, useValue: new CostLedger(database) },
      { provide: ProviderBlockRows, useValue: blocks },
      { provide: Notices, useValue: notices },
      { provide: NoticeStreams, useValue: new NoticeStreams(broker, new LiveNotices(nats), notices, access) },
      { provide: EvalCases, useValue: new EvalCases(database) },
      { provide: EvalSetChanges, useValue: new EvalSetChanges(work, runtime.parts.settings) },
      { provide: LoopLists, useValue: new LoopLists(database) },
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
