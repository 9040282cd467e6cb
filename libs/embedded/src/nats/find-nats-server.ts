import { execFile } from 'node:child_process';
import { access, constants, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedError, reasonOf } from '../errors.js';
import { packageRoot } from '../package-root.js';
import { fetchWithApt } from './fetch-with-apt.js';

const run = promisify(execFile);

/** Where package managers put it; an ordinary user's PATH often lacks the sbin folders. */
const USUAL_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'];

const THREE_WAYS =
  'install it (apt install nats-server, brew install nats-server, or a release from nats.io), set NATS_SERVER_BIN to its path, or set NATS_URL to a server of your own';

export interface FindOptions {
  /** The data folder: the fetched program is kept under it when the project's own folder cannot be written. */
  dir: string;
  /** The value of NATS_SERVER_BIN. */
  natsServerBin?: string | undefined;
  log?: ((line: string) => void) | undefined;
}

/**
 * The path of a nats-server: the one given, the one on the PATH, the one fetched earlier, or one fetched now with the system's package
 * manager, without becoming root. Throws EmbeddedError (binary-missing).
 */
export async function findNatsServer(options: FindOptions): Promise<string> {
  if (options.natsServerBin) return given(options.natsServerBin);
  const caches = [join(packageRoot(), '.fleetmend/cache/nats'), join(options.dir, 'cache/nats')];
  const known = [await onPath(), ...[...USUAL_FOLDERS, ...caches].map((folder) => join(folder, 'nats-server'))];
  for (const path of known) if (path !== undefined && (await isExecutable(path))) return path;
  return fetch(caches, options.log ?? (() => undefined));
}

async function given(path: string): Promise<string> {
  if (await isExecutable(path)) return path;
  throw new EmbeddedError(
    'binary-missing',
    `NATS_SERVER_BIN is ${path}, which is not a program this user may run: correct or unset it`,
  );
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Asked of the shell, which knows the PATH; only `#config` reads the environment. */
async function onPath(): Promise<string | undefined> {
  try {
    return (await run('/bin/sh', ['-c', 'command -v nats-server'])).stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}

async function fetch(caches: string[], log: (line: string) => void): Promise<string> {
  const tried: string[] = [];
  try {
    const cache = await firstWritable(caches);
    if (await isExecutable('/usr/bin/apt-get')) {
      log('fetching nats-server with apt-get');
      return await fetchWithApt(cache);
    }
    const brew = await findBrew();
    if (brew !== undefined) {
      log('installing nats-server with Homebrew');
      return await installWithBrew(brew);
    }
    tried.push('there is neither apt-get nor Homebrew to fetch it with');
  } catch (error) {
    tried.push(`fetching it failed: ${reasonOf(error).trim()}`);
  }
  throw new EmbeddedError('binary-missing', `no nats-server was found, and ${tried.join('; ')}. Do one of three: ${THREE_WAYS}`);
}

async function firstWritable(folders: string[]): Promise<string> {
  let failure: unknown;
  for (const folder of folders) {
    try {
      await mkdir(folder, { recursive: true });
      await access(folder, constants.W_OK);
      return folder;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

async function findBrew(): Promise<string | undefined> {
  for (const path of ['/opt/homebrew/bin/brew', '/usr/local/bin/brew']) if (await isExecutable(path)) return path;
  return undefined;
}

const BREW_TIMEOUT_MS = 600_000;

async function installWithBrew(brew: string): Promise<string> {
  await run(brew, ['install', '--quiet', 'nats-server'], { timeout: BREW_TIMEOUT_MS });
  return join((await run(brew, ['--prefix', 'nats-server'])).stdout.trim(), 'bin/nats-server');
}
