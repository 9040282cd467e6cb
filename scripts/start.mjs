// npm start: prepares, then runs Fleetmend with the arguments given after "--".
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { prepareOrExit } from './prepare.mjs';
import { requireNode, ROOT, statusOf, whenNpmIsGone } from './run.mjs';

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

requireNode();
await prepareOrExit();
const child = start(process.argv.slice(2));
void whenNpmIsGone(() => child.kill('SIGTERM'));
child.once('exit', (code, signal) => process.exit(statusOf(code, signal)));
