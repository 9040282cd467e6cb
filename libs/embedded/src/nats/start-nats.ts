import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { holderOf, isHolderAlive, readHolder } from '../data-dir/lock-file.js';
import { EmbeddedError, reasonOf } from '../errors.js';
import { LOOPBACK } from '../supervise/free-port.js';
import { launchOnFreePort, stopOf } from '../supervise/launch.js';
import { type ServerTask, startWatched, type WatchedServer } from '../supervise/watched-server.js';
import { CLEAN_ENV } from '../postgres/cluster.js';
import { findNatsServer, type FindOptions } from './find-nats-server.js';
import { type NatsInfo, readNatsInfo } from './nats-info.js';

/** The data folder (everything is kept in `<dir>/nats`), NATS_SERVER_BIN, and whom to tell. */
export interface NatsOptions extends FindOptions {
  /** Called when the server ends though nobody stopped it. */
  onCrash?: ((error: EmbeddedError) => void) | undefined;
  /** Chooses the port to try; any free one when left out. */
  pickPort?: (() => Promise<number>) | undefined;
}

export interface RunningNats {
  url: string;
  pid: number;
  version: string;
  stop(): Promise<void>;
}

/** 8 MiB, the most NATS advises: a long session's turn, with its tools' output, has to fit into one message. */
const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024;

const STOP_STEPS: ServerTask['stopSteps'] = [
  { signal: 'SIGTERM', waitMs: 20_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
];

/** How long a server that is just shutting down (its Fleetmend was killed a moment ago) may take before we call it another's. */
const LEAVING_MS = 25_000;

/**
 * Starts nats-server (2.9.10 or later) with JetStream on a free loopback port; a later start on the same folder continues with its
 * streams. The caller holds the data folder (`acquireDataDir`).
 * Throws EmbeddedError: binary-missing, data-dir-unusable, data-dir-in-use, server-failed.
 */
export async function startNats(options: NatsOptions): Promise<RunningNats> {
  const binary = await findNatsServer(options);
  const folder = await openNatsFolder(options.dir);
  const pidFile = join(folder, 'server.pid.json');
  await waitUntilUnused(pidFile);
  const serverName = `fleetmend-${randomUUID()}`;
  const logFile = join(folder, 'log');

  const launched = await launchOnFreePort({
    name: 'nats-server',
    logFile,
    pickPort: options.pickPort,
    start: async (port) => {
      const config = join(folder, 'nats-server.conf');
      await writeFile(config, configuration(port, serverName, folder));
      const task = { command: binary, args: ['-c', config], cwd: folder, env: CLEAN_ENV, logFile, stopSteps: STOP_STEPS };
      return recorded(await startWatched(task), pidFile);
    },
    ready: (port) => ownInfo(port, serverName),
  });
  const stopServer = stopOf('nats-server', launched.server, logFile, options.onCrash);
  const stop = async (): Promise<void> => {
    await stopServer();
    await rm(pidFile, { force: true });
  };
  return { url: `nats://${LOOPBACK}:${launched.port}`, pid: launched.server.pid, version: launched.ready.version, stop };
}

async function openNatsFolder(dir: string): Promise<string> {
  const folder = join(dir, 'nats');
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  } catch (error) {
    throw new EmbeddedError(
      'data-dir-unusable',
      `the folder ${folder} cannot be used (${reasonOf(error)}): choose another data folder`,
      {
        cause: error,
      },
    );
  }
}

function configuration(port: number, serverName: string, folder: string): string {
  return `# Written by Fleetmend at every start; changes are lost.
listen: "${LOOPBACK}:${port}"
server_name: "${serverName}"
max_payload: ${MAX_PAYLOAD_BYTES}
jetstream {
  store_dir: ${JSON.stringify(join(folder, 'jetstream'))}
  max_memory_store: 256MB
  # A limit for the sum of the streams' own limits, not space taken; left out, it is three quarters of the free disk at the start.
  max_file_store: 100GB
}
`;
}

/** nats-server does not lock its store, and two servers on one would ruin it. */
async function recorded(server: WatchedServer, pidFile: string): Promise<WatchedServer> {
  await writeFile(pidFile, `${JSON.stringify(holderOf(server.pid))}\n`);
  return server;
}

async function waitUntilUnused(pidFile: string): Promise<void> {
  const deadline = Date.now() + LEAVING_MS;
  for (;;) {
    const holder = await readHolder(pidFile);
    if (holder === undefined || !isHolderAlive(holder)) return;
    if (Date.now() > deadline) {
      throw new EmbeddedError(
        'data-dir-in-use',
        `another nats-server (process ${holder.pid}) uses the same data folder: stop it, or choose another data folder`,
      );
    }
    await delay(100);
  }
}

/** Undefined until the server answers; the name tells ours from a stranger that took the port. */
async function ownInfo(port: number, serverName: string): Promise<NatsInfo | undefined> {
  try {
    const info = await readNatsInfo(LOOPBACK, port, 2_000);
    return info.server_name === serverName && info.jetstream === true ? info : undefined;
  } catch {
    return undefined;
  }
}
