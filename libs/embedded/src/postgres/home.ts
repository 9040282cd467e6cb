import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, EmbeddedError, reasonOf } from '../errors.js';
import { openSharedRoot, SHARED_ROOT } from './binaries.js';
import { canEnter, type SystemUser } from './system-user.js';

/** What one Postgres keeps: `data` (the cluster), `password` (mode 600) and `log`, in one folder of mode 700. */
export interface PostgresHome {
  folder: string;
  password: string;
}

type Log = (line: string) => void;

/**
 * Opens or creates `<dir>/postgres` for `user`. Where that user cannot reach it (as under root's home), the folder is made in
 * /var/lib/fleetmend and `<dir>/postgres` becomes a link to it.
 * Throws EmbeddedError (data-dir-unusable).
 */
export async function openPostgresHome(dir: string, user: SystemUser | undefined, log: Log): Promise<PostgresHome> {
  try {
    const folder = (await existingFolder(join(dir, 'postgres'))) ?? (await newFolder(dir, user, log));
    await chmod(folder, 0o700);
    if (user) await chown(folder, user.uid, user.gid);
    return { folder, password: await openPassword(join(folder, 'password'), user) };
  } catch (error) {
    throw new EmbeddedError(
      'data-dir-unusable',
      `the folder ${dir}/postgres cannot be used (${reasonOf(error)}): run Fleetmend as the user who owns it, or choose another data folder`,
      { cause: error },
    );
  }
}

async function existingFolder(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    // Nothing there, or a link whose folder somebody has deleted.
    await rm(path, { force: true });
    return undefined;
  }
}

async function newFolder(dir: string, user: SystemUser | undefined, log: Log): Promise<string> {
  const path = join(dir, 'postgres');
  if (user === undefined || (await letIn(dir, user))) {
    await mkdir(path, { mode: 0o700 });
    return path;
  }
  await openSharedRoot();
  const folder = await mkdtemp(join(SHARED_ROOT, 'data-'));
  await symlink(folder, path);
  log(`the user ${user.name}, whom Postgres runs as, cannot reach ${dir}: its data is in ${folder}`);
  return folder;
}

/** Where only the data folder itself is closed, and is ours, passing through it is allowed (not listing it); else nothing changes. */
async function letIn(dir: string, user: SystemUser): Promise<boolean> {
  if (await canEnter(dir, user)) return true;
  const { mode, uid } = await stat(dir);
  if (uid !== process.getuid?.() || !(await canEnter(dirname(dir), user))) return false;
  await chmod(dir, (mode & 0o777) | 0o011);
  return true;
}

/**
 * A random password rather than trust: everybody with an account on the machine can connect to a loopback port, and the database's
 * superuser may run programs.
 */
async function openPassword(file: string, user: SystemUser | undefined): Promise<string> {
  const kept = await readFile(file, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  });
  if (kept.trim() !== '') return kept.trim();
  const password = randomBytes(24).toString('hex');
  await writeFile(file, `${password}\n`, { mode: 0o600 });
  if (user) await chown(file, user.uid, user.gid);
  return password;
}
