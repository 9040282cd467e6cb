// npm start: prepares, then runs Fleetmend with the arguments given after "--".
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { prepareOrExit } from './prepare.mjs';
import { requireNode, ROOT, statusOf } from './run.mjs';

const AT_A_TERMINAL = [0, 1, 2].some((descriptor) => isTerminal(descriptor));

function isTerminal(descriptor) {
  return [process.stdin, process.stdout, process.stderr][descriptor].isTTY === true;
}

/** In our process group, so that the terminal's Ctrl-C reaches it by itself; sending it on as well would make it a second one. */
function start(args) {
  const child = spawn(process.execPath, [join(ROOT, 'bin/fleetmend.mjs'), 'up', ...args], {
    stdio: 'inherit',
    env: { ...process.env, FLEETMEND_LAUNCHER_PID: String(process.pid) },
  });
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  process.on('SIGHUP', () => child.kill('SIGHUP'));
  process.on('SIGINT', () => AT_A_TERMINAL || child.kill('SIGINT'));
  return child;
}

/** npm killed outright tells nobody; that we then belong to another process is the only sign of it. */
function endWithNpm(child) {
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event === undefined) return;
  setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 500).unref();
}

requireNode();
await prepareOrExit();
const child = start(process.argv.slice(2));
endWithNpm(child);
child.once('exit', (code, signal) => process.exit(statusOf(code, signal)));
