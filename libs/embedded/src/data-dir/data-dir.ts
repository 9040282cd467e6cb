import { access, constants, mkdir, realpath, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { codeOf, EmbeddedError, reasonOf } from '../errors.js';
import { holderOf, tryLock, unlock } from './lock-file.js';

/** A data folder that is this process's alone until released. */
export interface DataDir {
  /** Absolute, without symbolic links. */
  dir: string;
  release(): Promise<void>;
}

/** A new Postgres takes 60 MB and JetStream needs room to write at all; below this a start only fails later and less clearly. */
const MIN_FREE_BYTES = 256 * 1024 * 1024;
const LOCK_NAME = 'fleetmend.lock';

/** Parts of one process (the launcher and the servers it starts) may share the folder. */
const sharers = new Map<string, number>();

/**
 * Creates the folder where missing and takes its lock: one Fleetmend at a time per folder. The lock of a dead process is taken over,
 * also when its number belongs to another program by now.
 * Throws EmbeddedError: data-dir-in-use (names the process), data-dir-unusable (no right to write, no space left).
 */
export async function acquireDataDir(dir: string): Promise<DataDir> {
  const absolute = await usable(resolve(dir));
  const file = join(absolute, LOCK_NAME);
  const holder = holderOf(process.pid);
  const sharing = sharers.get(absolute) ?? 0;
  sharers.set(absolute, sharing + 1);
  if (sharing === 0) {
    try {
      await lockOrThrow(absolute, file);
    } catch (error) {
      sharers.delete(absolute);
      throw error;
    }
  }
  let released = false;
  const release = async (): Promise<void> => {
    if (released) return;
    released = true;
    const left = (sharers.get(absolute) ?? 1) - 1;
    if (left > 0) sharers.set(absolute, left);
    else {
      sharers.delete(absolute);
      await unlock(file, holder);
    }
  };
  return { dir: absolute, release };
}

async function lockOrThrow(dir: string, file: string): Promise<void> {
  const attempt = await tryLock(file, holderOf(process.pid)).catch((error: unknown) => {
    throw unusable(dir, error);
  });
  if (attempt.taken) return;
  throw new EmbeddedError(
    'data-dir-in-use',
    `another Fleetmend (process ${attempt.holder.pid}) uses the data folder ${dir}: stop it, or choose another data folder`,
  );
}

async function usable(dir: string): Promise<string> {
  let absolute = dir;
  let freeBytes: number;
  try {
    await mkdir(dir, { recursive: true });
    absolute = await realpath(dir);
    await access(absolute, constants.W_OK | constants.X_OK);
    const disk = await statfs(absolute);
    freeBytes = disk.bavail * disk.bsize;
  } catch (error) {
    throw unusable(dir, error);
  }
  if (freeBytes < MIN_FREE_BYTES) {
    throw new EmbeddedError(
      'data-dir-unusable',
      `only ${Math.floor(freeBytes / 1024 ** 2)} MiB are left on the disk of the data folder ${absolute}, and at least ${MIN_FREE_BYTES / 1024 ** 2} are needed: free some, or choose another data folder`,
    );
  }
  return absolute;
}

const ADVICE: Record<string, string> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'it is on a read-only disk',
  ENOSPC: 'no space is left on its disk',
  EDQUOT: 'no space is left in the quota of this user',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'it is a file',
};

function unusable(dir: string, error: unknown): EmbeddedError {
  const why = ADVICE[codeOf(error) ?? ''] ?? reasonOf(error);
  return new EmbeddedError(
    'data-dir-unusable',
    `the data folder ${dir} cannot be used: ${why}. Change that, or choose another data folder`,
    { cause: error },
  );
}
