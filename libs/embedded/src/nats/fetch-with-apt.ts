import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const APT_TIMEOUT_MS = 180_000;

/** Bounds a mirror that hangs, and lets root work in folders that apt's own unprivileged account cannot enter. */
const APT_OPTIONS = ['-o', 'Acquire::http::Timeout=20', '-o', 'Acquire::Retries=2', '-o', 'APT::Sandbox::User=root'];

/**
 * Downloads the nats-server package with the system's apt (its sources, its signature checks, its proxy) and unpacks the program into
 * `cache`, without installing anything and without root. Gives the program's path. Throws what apt-get or dpkg-deb said.
 */
export async function fetchWithApt(cache: string): Promise<string> {
  const work = await mkdtemp(join(cache, 'fetch-'));
  try {
    await download(work);
    const [archive] = (await readdir(work)).filter((name) => name.endsWith('.deb'));
    if (archive === undefined) throw new Error('apt-get downloaded nothing');
    await run('dpkg-deb', ['-x', join(work, archive), join(work, 'unpacked')]);
    // Renamed into its place last: two Fleetmends may fetch at the same time, and none may see half a program.
    await rename(join(work, 'unpacked/usr/sbin/nats-server'), join(cache, 'nats-server'));
    return join(cache, 'nats-server');
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function download(work: string): Promise<void> {
  try {
    await aptGet(work, ['download', 'nats-server']);
  } catch {
    // The system's package lists are missing or too old, and only root may renew them: so we make our own, in our own folder.
    await downloadWithOwnLists(work);
  }
}

async function downloadWithOwnLists(work: string): Promise<void> {
  await mkdir(join(work, 'lists/partial'), { recursive: true });
  await mkdir(join(work, 'archives/partial'), { recursive: true });
  const own = ['-o', `Dir::State::lists=${join(work, 'lists')}`, '-o', `Dir::Cache=${work}`];
  await aptGet(work, [...own, 'update']);
  await aptGet(work, [...own, 'download', 'nats-server']);
}

async function aptGet(cwd: string, args: string[]): Promise<void> {
  await run('apt-get', [...APT_OPTIONS, ...args], { cwd, timeout: APT_TIMEOUT_MS });
}
