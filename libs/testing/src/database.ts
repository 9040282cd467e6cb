import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import pg from 'pg';
import { startPostgres, type RunningPostgres } from '#embedded';
import { migrate } from '#persistence';
import { tempDir } from './temp-dir.js';

/** A migrated database of the test's own. */
export interface TestDatabase {
  /** As its owner; services take their role themselves. */
  readonly url: string;
  /** As its owner. */
  query<Row extends object = Record<string, unknown>>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** Ends every connection to it and removes it. */
  drop(): Promise<void>;
}

/** Any number that no other program takes. Copying a template fails while somebody else is at it. */
const TEMPLATE_LOCK = 4_320_617_002;

/**
 * A fresh migrated database on the server at TEST_DATABASE_URL, else on an embedded one that lives as long as this process has
 * databases. The first call makes a template of the present migrations, which all later ones copy (about 50 ms).
 */
export async function testDatabase(): Promise<TestDatabase> {
  const server = await acquireServer();
  const name = `fm_test_${randomBytes(8).toString('hex')}`;
  const url = withDatabase(server.url, name);
  try {
    await onServer(server.url, (client) => copyTemplate(client, server.url, name));
  } catch (error) {
    await server.release();
    throw error;
  }
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => undefined);
  return {
    url,
    query: async <Row extends object>(sql: string, parameters: readonly unknown[] = []) =>
      (await pool.query<Row>(sql, [...parameters])).rows,
    drop: async () => {
      await pool.end();
      await onServer(server.url, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
      await server.release();
    },
  };
}

async function copyTemplate(client: pg.Client, serverUrl: string, name: string): Promise<void> {
  await client.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
  const template = `fm_template_${await migrationsHash()}`;
  const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [template]);
  if (rowCount === 0) await makeTemplate(client, serverUrl, template);
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
}

/** Renamed last: a run that was killed half-way leaves no half template under the name that counts. */
async function makeTemplate(client: pg.Client, serverUrl: string, template: string): Promise<void> {
  const draft = `${template}_draft`;
  await client.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
  await client.query(`CREATE DATABASE ${draft}`);
  await migrate(withDatabase(serverUrl, draft));
  await client.query(`ALTER DATABASE ${draft} RENAME TO ${template}`);
}

/** Of the migrations' text, so that a changed migration gets a template of its own. */
async function migrationsHash(): Promise<string> {
  const folder = new URL('../../persistence/src/migrations/', import.meta.url);
  const files = (await readdir(folder)).filter((file) => /^\d.*\.[jt]s$/.test(file)).sort();
  const hash = createHash('sha256');
  for (const file of files) hash.update(await readFile(new URL(file, folder)));
  return hash.digest('hex').slice(0, 16);
}

async function onServer<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    // The lock, being the connection's, goes with it.
    await client.end();
  }
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

interface Server {
  readonly url: string;
  release(): Promise<void>;
}

let users = 0;
let embedded: Promise<{ server: RunningPostgres; dir: string }> | undefined;

async function acquireServer(): Promise<Server> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given) return { url: given, release: () => Promise.resolve() };
  users += 1;
  embedded ??= startEmbedded();
  const { server } = await embedded;
  return { url: server.url, release: releaseEmbedded };
}

async function startEmbedded(): Promise<{ server: RunningPostgres; dir: string }> {
  const dir = await tempDir();
  return { server: await startPostgres({ dir }), dir };
}

async function releaseEmbedded(): Promise<void> {
  users -= 1;
  if (users > 0 || embedded === undefined) return;
  const { server, dir } = await embedded;
  embedded = undefined;
  await server.stop();
  await rm(dir, { recursive: true, force: true });
}
