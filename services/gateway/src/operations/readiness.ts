import type { Readiness } from '#contracts';
import type { Health } from '#observability';
import { pendingMigrations } from '#persistence';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Broker } from '../jetstream/broker.js';
import type { Backlog } from '../jetstream/backlog.js';
import type { SystemHealth } from '../jetstream/system-health.js';
import type { Database } from '../postgres/database.js';

/** Whoever probes gives up after a few seconds; a server that hangs must not keep them waiting. */
const PATIENCE_MS = 2_500;

export interface ReadinessParts {
  readonly db: Database;
  readonly databaseUrl: string;
  readonly broker: Broker;
  readonly backlog: Backlog;
  readonly health: Health;
  readonly system: SystemHealth;
}

/** Asks what turns need: the broker with its streams, the database, its schema. All else is `degraded`. */
export class ReadinessCheck {
  /** A schema that is as it should be stays so: only a new version of this program changes what that means. */
  private migrated = false;

  constructor(private readonly parts: ReadinessParts) {}

  async ask(): Promise<Readiness> {
    const [broker, database] = await Promise.all([this.brokerTrouble(), this.databaseTrouble()]);
    const missing = { ...broker, ...database };
    const { broker: _broker, database: _database, ...own } = this.parts.health.current;
    const degraded = { ...own, ...this.parts.system.troubles() };
    const worse = Object.keys(degraded).length > 0 ? 'degraded' : 'ready';
    return { status: Object.keys(missing).length > 0 ? 'unavailable' : worse, missing, degraded };
  }

  private async brokerTrouble(): Promise<Record<string, string>> {
    if (!this.parts.broker.isThere)
      return { broker: 'NATS cannot be reached: start it, or correct NATS_URL. Turns are answered with 503 meanwhile.' };
    const reason = await failureOf(this.parts.backlog.check());
    if (reason === undefined) return {};
    return {
      broker: `JetStream does not know the streams (${reason}): run \`fleetmend migrate\`, or look at the NATS server's log.`,
    };
  }

  private async databaseTrouble(): Promise<Record<string, string>> {
    const reason = await failureOf(this.parts.db.query('SELECT 1'));
    if (reason !== undefined) return { database: `Postgres cannot be reached (${reason}): start it, or correct DATABASE_URL.` };
    const migrations = this.migrated ? undefined : await failureOf(this.checkMigrations());
    return migrations === undefined ? {} : { migrations };
  }

  private async checkMigrations(): Promise<void> {
    if (await pendingMigrations(this.parts.databaseUrl))
      throw new Error('the database is older than this program: run `fleetmend migrate`');
    this.migrated = true;
  }
}

/** Why something failed, or that it took too long; undefined when it succeeded. */
async function failureOf(attempt: Promise<unknown>): Promise<string | undefined> {
  const late = sleep(PATIENCE_MS, `no answer within ${PATIENCE_MS} ms`, { ref: false });
  const outcome = attempt.then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  return Promise.race([outcome, late]);
}
