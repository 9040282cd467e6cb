// Runs one program and ends it when the pipe on standard input closes. The kernel closes that pipe however the parent ends, by
// SIGKILL too, so no server outlives Fleetmend; this works on Linux and macOS alike and needs nothing but Node.
// The task comes as JSON in the first argument; what happens is told as JSON lines on descriptor 3:
// {"pid":n} once started, {"error":"…"} when it could not be, {"code":n|null,"signal":"…"|null} at its end.
import { spawn } from 'node:child_process';
import { openSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

const task = JSON.parse(process.argv[2]);

function tell(message) {
  try {
    writeSync(3, `${JSON.stringify(message)}\n`);
  } catch {
    // The parent is gone: nobody is left to tell.
  }
}

function start() {
  const output = task.logFile === undefined ? 'inherit' : openSync(task.logFile, 'a', 0o600);
  return spawn(task.command, task.args, {
    cwd: task.cwd,
    env: task.env ?? process.env,
    ...(task.user && { uid: task.user.uid, gid: task.user.gid }),
    detached: true,
    stdio: ['ignore', output, output],
  });
}

function signal(child, name) {
  try {
    process.kill(task.group ? -child.pid : child.pid, name);
  } catch {
    // Already gone.
  }
}

/** Gives every step its signal and its time; the last step is meant to be SIGKILL. */
async function stop(child, ended) {
  for (const step of task.stopSteps) {
    signal(child, step.signal);
    if (await Promise.race([ended.then(() => true), delay(step.waitMs, false, { ref: false })])) return;
  }
}

function watch(child) {
  let stopping = false;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stopOnce = () => {
    if (stopping) return;
    stopping = true;
    void stop(child, ended);
  };
  child.once('spawn', () => tell({ pid: child.pid }));
  child.once('error', (error) => {
    tell({ error: error.message });
    process.exit(1);
  });
  child.once('exit', (code, name) => {
    // A test run may leave grandchildren; they share its process group.
    if (task.group) signal(child, 'SIGKILL');
    tell({ code, signal: name });
    process.exit(code ?? 128 + (constants.signals[name] ?? 0));
  });
  process.stdin.on('end', stopOnce).on('close', stopOnce).on('error', stopOnce).resume();
  process.on('SIGTERM', stopOnce);
}

// The parent decides when to stop: a Ctrl-C or a closed terminal must not take the servers away before the services have ended.
process.on('SIGINT', () => undefined);
process.on('SIGHUP', () => undefined);
try {
  watch(start());
} catch (error) {
  tell({ error: error.message });
  process.exit(1);
}
