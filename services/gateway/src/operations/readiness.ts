import type { Readiness } from '#contracts';
import type { Health } from '#observability';
import { pendingMigrations } from '#persistence';
import type { Broker } from '../jetstream/broker.js';
import type { Backlog } from '../jetstream/backlog.js';
import type { SystemHealth } from '../jetstream/system-health.js';
import type { Database } from '../postgres/database.js';
import type { ProviderBlockRows } from '../postgres/provider-blocks.js';
import { blockedEntries, JUDGE_BLOCKED, toldText } from './blocked-provider.js';
import { failureOf, inTime } from './in-time.js';

export interface ReadinessParts {
  readonly db: Database;
  readonly databaseUrl: string;
  readonly broker: Broker;
  readonly backlog: Backlog;
  readonly health: Health;
  readonly system: SystemHealth;
  readonly blocks: Pick<ProviderBlockRows, 'blocked'>;
}

/** Asks what turns need: the broker with its streams, the database, its schema. All else is `degraded`. */
export class ReadinessCheck {
  /** A schema that is as it should be stays so: only a new version of this program changes what that means. */
  private migrated = false;

  constructor(private readonly parts: ReadinessParts) {}

  async ask(): Promise<Readiness> {
    const [broker, database, told] = await Promise.all([this.brokerTrouble(), this.databaseTrouble(), this.toldTroubles()]);
    const missing = { ...broker, ...database };
    const { broker: _broker, database: _database, ...own } = this.parts.health.current;
    const degraded = { ...own, ...told };
    const worse = Object.keys(degraded).length > 0 ? 'degraded' : 'ready';
    return { status: Object.keys(missing).length > 0 ? 'unavailable' : worse, missing, degraded };
  }

  /** What other services said. Which providers are blocked is in a table, which knows more than what was heard since the start. */
  private async toldTroubles(): Promise<Record<string, string>> {
    const heard = Object.entries(this.parts.system.troubles()).map(([name, text]) => [name, toldText(name, text)] as const);
    try {
      const blocked = blockedEntries(await inTime(this.parts.blocks.blocked()));
      return { ...Object.fromEntries(heard.filter(([name]) => !name.startsWith(JUDGE_BLOCKED))), ...blocked };
    } catch {
      return Object.fromEntries(heard);
    }
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
