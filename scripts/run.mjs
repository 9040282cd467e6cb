// How the scripts of this folder run other programs. Plain Node: this runs before anything is installed.
import { execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** The exit status a shell would give for a program that ended so. */
export const statusOf = (code, signal) => code ?? 128 + (constants.signals[signal] ?? 0);

/** Runs a program in the project's folder, its output going to standard error. Gives its exit status, 127 when it cannot be run. */
export function run(command, args, options = {}) {
  const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 2, 2], ...options });
  return new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(`${command}: ${error.message}`);
      resolve(127);
    });
    child.once('exit', (code, signal) => resolve(statusOf(code, signal)));
  });
}

/**
 * Runs a program under the watcher of the embedded servers: it and all it started end with us, however we end. `options.output`: an
 * open file for its output (else ours). Gives `{ ended, stop }`; `stop()` asks it to end, and makes it end five seconds later.
 */
export function runWatched(command, args, options = {}) {
  const stopSteps = [
    { signal: 'SIGTERM', waitMs: 5_000 },
    { signal: 'SIGKILL', waitMs: 5_000 },
  ];
  const task = { command, args, cwd: ROOT, group: true, stopSteps };
  const output = options.output ?? 'inherit';
  const watcher = spawn(process.execPath, [join(ROOT, 'libs/embedded/watcher.mjs'), JSON.stringify(task)], {
    detached: true,
    env: { ...process.env, ...options.env },
    stdio: ['pipe', output, output, 'ignore'],
  });
  watcher.stdin.on('error', () => undefined);
  const ended = new Promise((resolve) => {
    watcher.once('error', () => resolve(127));
    watcher.once('exit', (code, signal) => resolve(statusOf(code, signal)));
  });
  return { ended, stop: () => watcher.stdin.end() };
}

/** npm as it runs us, or the one beside this Node, or the one on the PATH: the command and its first arguments. */
export function npmCommand() {
  const running = process.env.npm_execpath;
  return running?.endsWith('npm-cli.js') ? [process.execPath, running] : ['npm'];
}

/** Ends with a clear message when this Node is too old to run the project. */
export function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`Fleetmend needs Node 20.19 or later; this is ${process.versions.node}. See https://nodejs.org/en/download`);
  process.exit(1);
}

/** The parent of a process, or undefined when that is gone. Asks /proc, and ps where there is none (macOS). */
function parentOf(pid) {
  if (process.platform === 'linux') {
    try {
      return Promise.resolve(Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]));
    } catch {
      return Promise.resolve(undefined);
    }
  }
  return new Promise((resolve) =>
    execFile('ps', ['-o', 'ppid=', '-p', String(pid)], (error, out) => resolve(error ? undefined : Number(out))),
  );
}

/**
 * Calls `gone` once when the npm that runs us was killed outright, which tells nobody: the only sign is that we, or the shell between,
 * belong to another process than before. Does nothing when npm does not run us.
 */
export async function whenNpmIsGone(gone) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const grandparent = await parentOf(parent);
  const timer = setInterval(async () => {
    if (process.ppid === parent && (await parentOf(parent)) === grandparent) return;
    clearInterval(timer);
    gone();
  }, 1_000);
  timer.unref();
}
