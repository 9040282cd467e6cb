import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EmbeddedError } from '../errors.js';
import { type UserIds } from '../supervise/watched-server.js';

export interface SystemUser extends UserIds {
  name: string;
}

/** In this order: Postgres' own account on Linux and macOS, then the one every system has. None is ever created. */
const ACCOUNTS = ['postgres', '_postgres', 'nobody'];

/**
 * The user Postgres has to run as: undefined (ourselves) unless we are root, which Postgres refuses. Data that belongs to an ordinary
 * user already stays with that user, so that the same folder can be used as root and as its owner.
 * Throws EmbeddedError (server-failed) when the system has no account to drop to.
 */
export async function postgresUser(home: string): Promise<SystemUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = await readAccounts();
  const owner = await stat(home).catch(() => undefined);
  const user = accounts.find(({ uid }) => uid !== 0 && uid === owner?.uid) ?? firstOf(accounts);
  if (user !== undefined) return user;
  throw new EmbeddedError(
    'server-failed',
    `Postgres refuses to run as root, and this system has no user ${ACCOUNTS.join(' or ')}: run Fleetmend as an ordinary user, or set DATABASE_URL`,
  );
}

function firstOf(accounts: SystemUser[]): SystemUser | undefined {
  return ACCOUNTS.map((name) => accounts.find((account) => account.name === name)).find((account) => account !== undefined);
}

async function readAccounts(): Promise<SystemUser[]> {
  const text = await readFile('/etc/passwd', 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    // macOS writes nobody's number as -2; the system calls want it unsigned.
    return name && uid && gid && !name.startsWith('#') ? [{ name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }] : [];
  });
}

/** Whether the user may enter the folder: it and every folder above it. Looks at owner, group and mode only, not at ACLs. */
export async function canEnter(folder: string, user: UserIds): Promise<boolean> {
  let current = await realpath(folder);
  for (;;) {
    const { mode, uid, gid } = await stat(current);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (dirname(current) === current) return true;
    current = dirname(current);
  }
}
