import pg from 'pg';
import { DataSource } from 'typeorm';
import { Foundation1764500000001 } from './migrations/0001-foundation.js';
import { Grants1764500000002 } from './migrations/0002-grants.js';
import { ScoringInFull1764500000003 } from './migrations/0003-scoring-in-full.js';
import { OpenTelemetry1764500000004 } from './migrations/0004-opentelemetry.js';
import { RulesAndRepair1764500000005 } from './migrations/0005-rules-and-repair.js';
import { Trials1764500000006 } from './migrations/0006-trials.js';
import { Replays1764500000007 } from './migrations/0007-replays.js';
import { OtlpInView1764500000009 } from './migrations/0009-otlp-in-view.js';
import { EvalSet1764500000008 } from './migrations/0008-evalset.js';

/**
 * bigint columns are numbers here: turn indices, microseconds and counters stay below 2^53 by schema. One that does not
 * is a bug that must not pass silently as a rounded number or a string.
 */
function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is outside the safe integers`);
  return value;
}
pg.types.setTypeParser(pg.types.builtins.INT8, safeInteger);

/**
 * A connection that the server ends between two owners (taken from the pool, and TypeORM does not listen yet) says so to nobody,
 * and Node ends a process whose 'error' nobody hears. Whoever uses the connection next is told by its query.
 */
class HeardClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }
}

export interface DatabaseSettings {
  readonly url: string;
  /** The database role of a service, for example `fm_scoring`; null connects as the owner (migrations, operators). */
  readonly role: string | null;
  readonly name: string;
  readonly poolSize?: number;
}

export const migrations = [
  Foundation1764500000001,
  Grants1764500000002,
  ScoringInFull1764500000003,
  OpenTelemetry1764500000004,
  RulesAndRepair1764500000005,
  Trials1764500000006,
  Replays1764500000007,
  OtlpInView1764500000009,
  EvalSet1764500000008,
];

/** A data source that is not connected yet. `-c role` makes every connection of the pool the service's own role. */
export function createDataSource({ url, role, name, poolSize = 4 }: DatabaseSettings): DataSource {
  return new DataSource({
    type: 'postgres',
    url,
    applicationName: `fleetmend-${name}`,
    poolSize,
    connectTimeoutMS: 5_000,
    migrations,
    migrationsTableName: 'fleetmend_migrations',
    migrationsTransactionMode: 'each',
    extra: { Client: HeardClient, keepAlive: true, ...(role === null ? {} : { options: `-c role=${role}` }) },
    logging: false,
  });
}
