// The servers the tests use, and the temporary folder of one run.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './run.mjs';

const PREFIX = 'fleetmend-test-';

/** Named after this process, so that a later run can tell what one that was killed outright has left. */
export function makeTempDir() {
  const dir = fs.mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  // Root's Postgres runs as another user, who has to pass through.
  fs.chmodSync(dir, 0o711);
  return dir;
}

export function removeDeadTempDirs() {
  for (const name of fs.readdirSync(tmpdir())) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      fs.rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {
      // Another user's.
    }
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Starts what TEST_NATS_URL, TEST_DATABASE_URL, NATS_URL and DATABASE_URL do not give. Gives `{ natsUrl, databaseUrl, stop }`. */
export async function startServers(dir) {
  const { startEmbedded } = await import(new URL(`file://${join(ROOT, 'dist/libs/embedded/src/index.js')}`).href);
  const { TEST_NATS_URL, NATS_URL, TEST_DATABASE_URL, DATABASE_URL, NATS_SERVER_BIN } = process.env;
  return startEmbedded({
    dir,
    natsUrl: TEST_NATS_URL || NATS_URL,
    databaseUrl: TEST_DATABASE_URL || DATABASE_URL,
    natsServerBin: NATS_SERVER_BIN,
    log: (line) => console.log(line),
  });
}
