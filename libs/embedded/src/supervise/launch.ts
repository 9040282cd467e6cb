import { readFile, rename, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedError } from '../errors.js';
import { freePort, isPortFree } from './free-port.js';
import { type ServerExit, type WatchedServer } from './watched-server.js';

/** How to start one server on a port and how to know that it is ready (`ready` gives undefined until it is). */
export interface Launch<Ready> {
  name: string;
  logFile: string;
  start(port: number): Promise<WatchedServer>;
  ready(port: number): Promise<Ready | undefined>;
  /** Replaced in tests to hand out a port that is taken. */
  pickPort?: (() => Promise<number>) | undefined;
  /** The longest a start may take, ms. Replaying 4 GB of write-ahead log after a crash takes minutes on a slow disk. */
  timeoutMs?: number;
}

export interface Launched<Ready> {
  port: number;
  server: WatchedServer;
  ready: Ready;
}

const PORT_ATTEMPTS = 5;
const POLL_MS = 40;
const TIMEOUT_MS = 300_000;
const LOG_KEPT_BYTES = 20 * 1024 * 1024;
const LOG_TAIL_CHARS = 2_000;

/**
 * Starts a server on a free port; when another program takes the port in between, tries with another.
 * Throws EmbeddedError (server-failed) with the end of the server's log.
 */
export async function launchOnFreePort<Ready>(launch: Launch<Ready>): Promise<Launched<Ready>> {
  await rotateLog(launch.logFile);
  const pickPort = launch.pickPort ?? freePort;
  for (let attempt = 1; ; attempt++) {
    const port = await pickPort();
    const server = await launch.start(port);
    const outcome = await readyOrExited(launch, port, server).catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });
    if ('ready' in outcome) return { port, server, ready: outcome.ready };
    const portTaken = !(await isPortFree(port));
    if (!portTaken || attempt === PORT_ATTEMPTS) throw await startFailure(launch, outcome.exit);
  }
}

/** How to stop a server; one that ends before anybody asked is reported as crashed. */
export function stopOf(
  name: string,
  server: WatchedServer,
  logFile: string,
  onCrash: ((error: EmbeddedError) => void) | undefined,
): () => Promise<void> {
  let stopping = false;
  void server.exited.then(() => {
    if (!stopping) onCrash?.(new EmbeddedError('server-failed', `${name} ended by itself; its log is ${logFile}`));
  });
  return async () => {
    stopping = true;
    await server.stop();
  };
}

type Outcome<Ready> = { ready: Ready } | { exit: ServerExit | 'timeout' };

async function readyOrExited<Ready>(launch: Launch<Ready>, port: number, server: WatchedServer): Promise<Outcome<Ready>> {
  let exit: ServerExit | undefined;
  void server.exited.then((value) => (exit = value));
  const deadline = Date.now() + (launch.timeoutMs ?? TIMEOUT_MS);
  while (Date.now() < deadline) {
    const ready = await launch.ready(port);
    if (ready !== undefined) return { ready };
    if (exit !== undefined) return { exit };
    await delay(POLL_MS);
  }
  await server.stop();
  return { exit: 'timeout' };
}

async function startFailure(launch: { name: string; logFile: string }, exit: ServerExit | 'timeout'): Promise<EmbeddedError> {
  const what =
    exit === 'timeout' ? 'did not get ready in time' : `ended at its start with ${exit.signal ?? `status ${exit.code ?? '?'}`}`;
  return new EmbeddedError(
    'server-failed',
    `${launch.name} ${what}; its log, ${launch.logFile}, ends with:\n${await tailOf(launch.logFile)}`,
  );
}

async function tailOf(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '(no log)');
  return text.slice(-LOG_TAIL_CHARS).trimEnd();
}

/** One old log is kept, so that the folder does not grow without end. */
async function rotateLog(file: string): Promise<void> {
  const size = await stat(file).then(
    (stats) => stats.size,
    () => 0,
  );
  if (size > LOG_KEPT_BYTES) await rename(file, `${file}.1`);
}
