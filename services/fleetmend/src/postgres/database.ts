import type { DataSource } from 'typeorm';
import { createDataSource } from '#persistence';
import { CommandError, exitCodes } from '../exit-codes.js';

/** A connected database, for those outside this folder to hand on. */
export type Database = DataSource;

/** Connects for one command, as the owner or in a service's role, and closes after it. @throws CommandError 4 or 5 */
export async function withDatabase<T>(url: string, work: (db: Database) => Promise<T>, role: string | null = null): Promise<T> {
  const db = createDataSource({ url, role, name: 'command-line', poolSize: 2 });
  try {
    await db.initialize();
  } catch (error) {
    throw cannotUse(url, error);
  }
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

/** Password or right missing (class 28). */
const REFUSED = /^28/;

/** The error's own text is used, never the driver's error itself: some hold the whole URL, password included. */
function cannotUse(url: string, error: unknown): CommandError {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  const host = URL.canParse(url) ? new URL(url).host : 'DATABASE_URL';
  return new CommandError(
    REFUSED.test(code) ? exitCodes.notAllowed : exitCodes.unreachable,
    `the database at ${host} cannot be used: ${message === '' ? code : message}. Start it, or correct or unset DATABASE_URL`,
  );
}
