import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Client } from 'pg';
import { type EmbeddedError } from '../errors.js';
import { LOOPBACK } from '../supervise/free-port.js';
import { launchOnFreePort, stopOf } from '../supervise/launch.js';
import { type ServerTask, startWatched } from '../supervise/watched-server.js';
import { postgresBinaries } from './binaries.js';
import { CLEAN_ENV, prepareCluster, SUPERUSER } from './cluster.js';
import { openPostgresHome } from './home.js';
import { connectTo } from './connect.js';
import { postgresUser, type SystemUser } from './system-user.js';

const run = promisify(execFile);

export interface PostgresOptions {
  /** The data folder; everything is kept in `<dir>/postgres`. */
  dir: string;
  /** Told, one line each, what is worth knowing. */
  log?: ((line: string) => void) | undefined;
  /** Called when the server ends though nobody stopped it. */
  onCrash?: ((error: EmbeddedError) => void) | undefined;
  /** Chooses the port to try; any free one when left out. */
  pickPort?: (() => Promise<number>) | undefined;
}

/** A running Postgres. `url` has the password in it: do not log it. */
export interface RunningPostgres {
  url: string;
  pid: number;
  version: string;
  stop(): Promise<void>;
}

const DATABASE = 'fleetmend';

/** Sizes from the data model's measurements. */
const SETTINGS = {
  listen_addresses: LOOPBACK,
  // A socket's path may be at most 107 bytes long, and the data folder may lie deeper than that.
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '256MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** Wanted, but only some builds can do it; asked before every start. */
const LZ4_SETTINGS = ['default_toast_compression', 'wal_compression'];

/** Fast shutdown, then immediate (recovers at the next start), then what cannot be refused. */
const STOP_STEPS: ServerTask['stopSteps'] = [
  { signal: 'SIGINT', waitMs: 30_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
];

/**
 * Starts Postgres on a free loopback port, as an ordinary user also when we are root, with its database created. A later start on the
 * same folder continues with its data. The caller holds the data folder (`acquireDataDir`).
 * Throws EmbeddedError: binary-missing, data-dir-unusable, data-dir-in-use, server-failed.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const log = options.log ?? (() => undefined);
  await mkdir(options.dir, { recursive: true });
  const user = await postgresUser(join(options.dir, 'postgres'));
  const binaries = await postgresBinaries(user);
  const home = await openPostgresHome(options.dir, user, log);
  const data = await prepareCluster(home.folder, binaries, user);
  const postgres = join(binaries.folder, 'bin/postgres');
  const settings = toFlags({ ...SETTINGS, ...(await supportedLz4(postgres, data, user)) });
  const logFile = join(home.folder, 'log');
  const url = (port: number, database: string): string =>
    `postgresql://${SUPERUSER}:${home.password}@${LOOPBACK}:${port}/${database}`;

  const launched = await launchOnFreePort({
    name: 'Postgres',
    logFile,
    pickPort: options.pickPort,
    start: (port) =>
      startWatched({
        command: postgres,
        args: ['-D', data, '-p', String(port), ...settings],
        cwd: home.folder,
        env: CLEAN_ENV,
        logFile,
        stopSteps: STOP_STEPS,
        ...(user && { user: { uid: user.uid, gid: user.gid } }),
      }),
    ready: (port) => createDatabase(url(port, 'postgres')),
  });
  const stop = stopOf('Postgres', launched.server, logFile, options.onCrash);
  return { url: url(launched.port, DATABASE), pid: launched.server.pid, version: binaries.version, stop };
}

function toFlags(settings: Record<string, string>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

async function supportedLz4(postgres: string, data: string, user?: SystemUser): Promise<Record<string, string>> {
  const supported: Record<string, string> = {};
  for (const name of LZ4_SETTINGS) {
    // "-C" prints one setting and ends, and fails on a value this build does not have.
    const asked = run(postgres, ['-D', data, '-C', name, '-c', `${name}=lz4`], { ...user, cwd: data, env: CLEAN_ENV });
    const works = await asked.then(
      () => true,
      () => false,
    );
    if (works) supported[name] = 'lz4';
  }
  return supported;
}

/** Undefined while the server does not take connections yet. */
async function createDatabase(url: string): Promise<true | undefined> {
  let client: Client;
  try {
    client = await connectTo(url, 2_000);
  } catch {
    return undefined;
  }
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
    return true;
  } finally {
    await client.end();
  }
}
