import type { ServiceName } from '#contracts';
import type { Database } from './database.js';

export async function serverVersion(db: Database): Promise<string> {
  const rows = await db.query<{ server_version: string }[]>('SHOW server_version');
  return rows[0]?.server_version ?? 'unknown';
}

export async function countRedrives(db: Database): Promise<number> {
  return count(db, 'SELECT count(*)::int AS count FROM edge.redrives', []);
}

/** Events of a service that were committed so many seconds ago and not published since. */
export function lateOutboxRows(db: Database, service: Exclude<ServiceName, 'gateway'>, seconds: number): Promise<number> {
  const late = `created_at < now() - make_interval(secs => $1)`;
  return count(db, `SELECT count(*)::int AS count FROM ${service}.outbox WHERE ${late}`, [seconds]);
}

async function count(db: Database, sql: string, parameters: readonly unknown[]): Promise<number> {
  const rows = await db.query<{ count: number }[]>(sql, [...parameters]);
  return rows[0]?.count ?? 0;
}
