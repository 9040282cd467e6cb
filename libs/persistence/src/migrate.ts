import pg from 'pg';
import { createDataSource } from './data-source.js';

/** Any number that no other program takes: the lock under which one process at a time migrates. */
const MIGRATION_LOCK = 4_320_617_001;

/**
 * Brings the schema up to date; safe when several processes start at once. The lock is a session lock on a connection of
 * its own, so that the server releases it when its holder is killed. Returns the names of the migrations applied.
 */
export async function migrate(url: string): Promise<string[]> {
  const lock = new pg.Client({ connectionString: url, application_name: 'fleetmend-migrate-lock', keepAlive: true });
  lock.on('error', () => undefined);
  await lock.connect();
  try {
    await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const source = createDataSource({ url, role: null, name: 'migrate', poolSize: 1 });
    await source.initialize();
    try {
      const applied = await source.runMigrations();
      return applied.map(({ name }) => name);
    } finally {
      await source.destroy();
    }
  } finally {
    await lock.end();
  }
}

/** Whether the schema is the one this version needs. */
export async function pendingMigrations(url: string): Promise<boolean> {
  const source = createDataSource({ url, role: null, name: 'migrate', poolSize: 1 });
  await source.initialize();
  try {
    return await source.showMigrations();
  } finally {
    await source.destroy();
  }
}
