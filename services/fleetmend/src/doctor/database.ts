import { serviceNames } from '#contracts';
import { pendingMigrations } from '#persistence';
import { withDatabase, type Database } from '../postgres/database.js';
import { countRedrives, lateOutboxRows, serverVersion } from '../postgres/health.js';
import { fail, findings, ok, warn, type Finding } from './finding.js';

/** Services publish after their commit, and sweep what was left after 10 s. */
const OUTBOX_S = 30;
const MIGRATE = 'run `fleetmend migrate`';

/** Database, migrations and outboxes. `redriven`: dead letters that were sent again, null when that is not known. */
export interface DatabaseState {
  readonly findings: Finding[];
  readonly redriven: number | null;
}

export async function lookAtDatabase(url: string): Promise<DatabaseState> {
  let redriven: number | null = null;
  const found = await findings('database', 'start it, or correct DATABASE_URL', () =>
    withDatabase(url, async (db) => {
      const reachable = ok('database', `Postgres ${await serverVersion(db)}`);
      if (await pendingMigrations(url)) return [reachable, fail('migrations', 'the schema is not up to date', MIGRATE)];
      redriven = await countRedrives(db);
      return [reachable, ok('migrations', 'up to date'), ...(await outboxes(db))];
    }),
  );
  return { findings: found, redriven };
}

async function outboxes(db: Database): Promise<Finding[]> {
  const services = serviceNames.filter((service) => service !== 'gateway');
  const late = await Promise.all(services.map((service) => lateOutboxRows(db, service, OUTBOX_S)));
  const stuck = services.flatMap((service, at) => ((late[at] ?? 0) > 0 ? [`${service} ${late[at]}`] : []));
  if (stuck.length === 0) return [ok('outboxes', `nothing older than ${OUTBOX_S} s`)];
  const advice = 'they are published when their service runs and the broker takes messages';
  return [warn('outboxes', `unpublished for more than ${OUTBOX_S} s: ${stuck.join(', ')}`, advice)];
}
