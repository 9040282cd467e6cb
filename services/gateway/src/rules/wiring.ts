import type { Provider } from '@nestjs/common';
import { RuleDirectory } from '#rule-store';
import type { ServiceRuntime } from '#service';
import type { Broker } from '../jetstream/broker.js';
import { followRules } from '../jetstream/live-rules.js';
import { RuleService } from '../jetstream/rule-service.js';
import { McpDoor } from '../mcp/mcp-server.js';
import type { Database } from '../postgres/database.js';
import { ProjectSalts } from '../postgres/project-salts.js';
import { ReplayRuns } from '../postgres/replay-runs.js';
import { RuleChanges } from '../postgres/rule-changes.js';
import { RuleEdits } from '../postgres/rule-edits.js';
import { RuleRecords } from '../postgres/rule-records.js';
import { ExposureLog } from './exposure-log.js';
import { LastKnown } from './last-known.js';
import { RuleDesk } from './rule-desk.js';
import { RuleReader } from './rule-reader.js';

/** A change is told live; who missed that finds it by the version, and a withdrawal is promised to reach everybody within a second. */
const FRESH_FOR_MS = 500;

/** Everything about rules: one reader behind three doors, and the desk of the operators. */
export function ruleProviders(runtime: ServiceRuntime, database: Database, broker: Broker): Provider[] {
  const { nats, publisher, settings, work, health, logger } = runtime.parts;
  const rules = new RuleDirectory({ read: (sql, parameters) => database.query(sql, parameters), freshForMs: FRESH_FOR_MS });
  followRules(nats, (project) => rules.markStale(project));
  broker.onReturn(() => health.report('exposures', null));
  const exposures = new ExposureLog(publisher, broker, (trouble) => health.report('exposures', trouble));
  const reader = new RuleReader({
    rules: new LastKnown(rules),
    settings: new LastKnown(settings),
    salts: new ProjectSalts(database),
    replays: new ReplayRuns(database),
    exposures,
  });
  const projects = new LastKnown({ of: (project) => settings.exists(project) });
  const records = new RuleRecords(database);
  const desk = new RuleDesk({ changes: new RuleChanges(work), edits: new RuleEdits(work, rules), records, rules, settings });
  const onError = (text: string): void => logger.error(text);
  return [
    { provide: RuleReader, useValue: reader },
    { provide: McpDoor, useValue: new McpDoor(reader) },
    {
      provide: RuleService,
      useValue: new RuleService({ nc: nats, reader, projects: { exists: (project) => projects.of(project) }, onError }),
    },
    { provide: RuleRecords, useValue: records },
    { provide: RuleDesk, useValue: desk },
  ];
}
