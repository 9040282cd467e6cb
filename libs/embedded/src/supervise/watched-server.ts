import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type Readable, type Writable } from 'node:stream';
import { join } from 'node:path';
import { EmbeddedError } from '../errors.js';
import { packageRoot } from '../package-root.js';

/** The numbers of a system user. */
export interface UserIds {
  uid: number;
  gid: number;
}

/** One server to run. `stopSteps`: signals in order, each with the milliseconds it may take before the next. */
export interface ServerTask {
  command: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  logFile: string;
  stopSteps: { signal: NodeJS.Signals; waitMs: number }[];
  user?: UserIds;
}

export interface ServerExit {
  code: number | null;
  signal: string | null;
}

export interface WatchedServer {
  /** Of the server itself, not of its watcher. */
  pid: number;
  /** Settles when the server has ended, for whatever reason. */
  exited: Promise<ServerExit>;
  /** Ends the server and waits for it; may be called again. */
  stop(): Promise<void>;
}

type Report = { pid: number } | { error: string } | ServerExit;

/**
 * Starts a server under the watcher, which ends it when this process ends. Neither keeps this process running.
 * Throws EmbeddedError (server-failed) when the program cannot be executed.
 */
export async function startWatched(task: ServerTask): Promise<WatchedServer> {
  const watcher = spawn(process.execPath, [join(packageRoot(), 'libs/embedded/watcher.mjs'), JSON.stringify(task)], {
    // Its own session: the terminal's Ctrl-C goes to Fleetmend alone, which stops the services first.
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<ServerExit>((resolve) => {
    watcher.once('exit', (code, signal) => {
      resolve({ code, signal });
    });
  });
  const pid = await startedPid(watcher, task.command);
  const exited = ended.then((exit) => afterWatcher(exit, pid));
  detach(watcher);
  return { pid, exited, stop: () => stopWatched(watcher, exited) };
}

function startedPid(watcher: ChildProcess, command: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => {
      reject(new EmbeddedError('server-failed', `${command} could not be started: ${reason}`));
    };
    watcher.once('error', (error) => {
      fail(error.message);
    });
    watcher.once('exit', () => {
      fail('its watcher ended');
    });
    createInterface({ input: watcher.stdio[3] as Readable }).on('line', (line) => {
      const report = JSON.parse(line) as Report;
      if ('pid' in report) resolve(report.pid);
      if ('error' in report) fail(report.error);
    });
  });
}

/** Somebody may have killed the watcher itself; then the server is still there, and this process has to end it. */
function afterWatcher(exit: ServerExit, pid: number): ServerExit {
  if (exit.signal === 'SIGKILL') {
    try {
      process.kill(pid, 'SIGTERM');
    } catch {
      // Gone with its watcher.
    }
  }
  return exit;
}

function detach(watcher: ChildProcess): void {
  watcher.unref();
  // A child's pipes are sockets, which can be let go of; their stream types do not say so.
  for (const pipe of [watcher.stdin, watcher.stdio[3]]) (pipe as (Writable | Readable) & { unref(): void }).unref();
  watcher.stdin?.on('error', () => undefined);
}

async function stopWatched(watcher: ChildProcess, exited: Promise<ServerExit>): Promise<void> {
  watcher.ref();
  watcher.stdin?.end();
  await exited;
}
