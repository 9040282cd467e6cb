#!/usr/bin/env node
// The command line. Its code is dist/services/fleetmend/src/cli.js; in a fresh clone that is built first.
import { existsSync } from 'node:fs';

const cli = new URL('../dist/services/fleetmend/src/cli.js', import.meta.url);

/** scripts/start.mjs cannot tell us anything when it is killed outright; that we then belong to another process says it. */
function endWithLauncher(launcher) {
  if (!(launcher > 0)) return;
  setInterval(() => process.ppid !== launcher && process.kill(process.pid, 'SIGTERM'), 500).unref();
}

endWithLauncher(Number(process.env.FLEETMEND_LAUNCHER_PID));
delete process.env.FLEETMEND_LAUNCHER_PID;
if (!existsSync(cli)) {
  const { prepareOrExit } = await import('../scripts/prepare.mjs');
  await prepareOrExit();
}
await import(cli.href);
