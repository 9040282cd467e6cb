import { execFile } from 'node:child_process';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { EmbeddedError, reasonOf } from '../errors.js';
import { isAlive, programOf } from '../supervise/process-identity.js';
import { type PostgresBinaries } from './binaries.js';
import { type SystemUser } from './system-user.js';

const run = promisify(execFile);

/** The servers see none of the user's variables: PGDATA, PGOPTIONS and the like would change what they do. */
export const CLEAN_ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

export const SUPERUSER = 'fleetmend';

/** How long a Postgres that is just shutting down (its Fleetmend was killed a moment ago) may take before we call it another's. */
const LEAVING_MS = 20_000;

/**
 * The folder of a cluster that is ready to be started: created on the first call, checked on later ones.
 * Throws EmbeddedError: server-failed (initdb), data-dir-in-use (a live server), data-dir-unusable (another major version).
 */
export async function prepareCluster(home: string, binaries: PostgresBinaries, user?: SystemUser): Promise<string> {
  const data = join(home, 'data');
  if (!existsSync(join(data, 'PG_VERSION'))) await initialise(home, binaries, user);
  await checkVersion(data, binaries);
  await waitUntilUnused(data);
  return data;
}

/** Made beside its place and renamed, so that an interrupted start leaves no half cluster. */
async function initialise(home: string, binaries: PostgresBinaries, user?: SystemUser): Promise<void> {
  for (const name of await readdir(home))
    if (name.startsWith('new-')) await rm(join(home, name), { recursive: true, force: true });
  const fresh = join(home, `new-${process.pid}`);
  const flags = [`--pgdata=${fresh}`, `--username=${SUPERUSER}`, `--pwfile=${join(home, 'password')}`];
  const fixed = ['--auth=scram-sha-256', '--locale=C', '--encoding=UTF8', '--no-instructions'];
  try {
    await run(join(binaries.folder, 'bin/initdb'), [...flags, ...fixed], { ...user, cwd: home, env: CLEAN_ENV });
  } catch (error) {
    throw new EmbeddedError('server-failed', `initdb could not create the database in ${home}: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  await rm(join(home, 'data'), { recursive: true, force: true });
  await rename(fresh, join(home, 'data'));
}

async function checkVersion(data: string, binaries: PostgresBinaries): Promise<void> {
  const found = (await readFile(join(data, 'PG_VERSION'), 'utf8')).trim();
  if (binaries.version.split('.')[0] === found) return;
  throw new EmbeddedError(
    'data-dir-unusable',
    `the data in ${data} was written by Postgres ${found}, and this is Postgres ${binaries.version}: move it over with pg_dump and pg_restore, or choose another data folder`,
  );
}

async function waitUntilUnused(data: string): Promise<void> {
  const deadline = Date.now() + LEAVING_MS;
  for (;;) {
    const pid = await livePostmaster(data);
    if (pid === undefined) return;
    if (Date.now() > deadline) {
      throw new EmbeddedError(
        'data-dir-in-use',
        `another Postgres (process ${pid}) runs on ${data}: stop it, or choose another data folder`,
      );
    }
    await delay(100);
  }
}

/**
 * The server postmaster.pid names, if it lives. Postgres itself only looks at the number, and refuses to start when any other program
 * got it since (usual after a container's restart); so a file that names another program is removed.
 */
async function livePostmaster(data: string): Promise<number | undefined> {
  const file = join(data, 'postmaster.pid');
  const pid = Number.parseInt(await readFile(file, 'utf8').catch(() => ''), 10);
  if (!Number.isInteger(pid)) return undefined;
  if (isAlive(pid) && programOf(pid) === 'postgres') return pid;
  await rm(file, { force: true });
  return undefined;
}
