import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from '../errors.js';
import { identityOf, isAlive } from '../supervise/process-identity.js';

/** Who holds a lock: a process number, and what tells it from a later process of the same number. */
export interface Holder {
  pid: number;
  identity?: string;
}

/** Either taken, or held by somebody who lives. */
export type LockAttempt = { taken: true } | { taken: false; holder: Holder };

const ATTEMPTS = 50;
/** A lock file is written in one go; one that stays unreadable for this long was left by a crash or a full disk. */
const UNREADABLE_MS = 2_000;

export function holderOf(pid: number): Holder {
  const identity = identityOf(pid);
  return { pid, ...(identity !== undefined && { identity }) };
}

export function isHolderAlive(holder: Holder): boolean {
  if (!isAlive(holder.pid)) return false;
  return holder.identity === undefined || holder.identity === identityOf(holder.pid);
}

/** The holder a lock file names; undefined when there is no file, or nothing readable in it. */
export async function readHolder(file: string): Promise<Holder | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isHolder(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isHolder(value: unknown): value is Holder {
  return typeof value === 'object' && value !== null && 'pid' in value && typeof value.pid === 'number';
}

/** Takes the lock for `holder`, taking over one whose holder is dead. Throws the system's errors (EACCES, ENOSPC, …). */
export async function tryLock(file: string, holder: Holder): Promise<LockAttempt> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (await createExclusively(file, `${JSON.stringify(holder)}\n`)) return { taken: true };
    const other = await readHolder(file);
    if (other !== undefined && isHolderAlive(other)) return { taken: false, holder: other };
    if (other !== undefined || (await ageMs(file)) > UNREADABLE_MS) await removeStale(file, other);
    else await delay(100);
  }
  throw new Error(`the lock ${file} keeps changing hands`);
}

async function createExclusively(file: string, content: string): Promise<boolean> {
  try {
    await writeFile(file, content, { flag: 'wx', mode: 0o644 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Two may find the same stale lock: the slower one must not remove the new lock of the faster, so it looks at what it moved away. */
async function removeStale(file: string, stale: Holder | undefined): Promise<void> {
  const moved = `${file}.stale-${process.pid}`;
  try {
    await rename(file, moved);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  const found = await readHolder(moved);
  if (found !== undefined && JSON.stringify(found) !== JSON.stringify(stale)) {
    await createExclusively(file, `${JSON.stringify(found)}\n`);
  }
  await rm(moved, { force: true });
}

async function ageMs(file: string): Promise<number> {
  try {
    return Date.now() - (await stat(file)).mtimeMs;
  } catch {
    return 0;
  }
}

/** Gives the lock back, unless somebody else holds it by now. */
export async function unlock(file: string, holder: Holder): Promise<void> {
  const current = await readHolder(file);
  if (current?.pid === holder.pid && current.identity === holder.identity) await rm(file, { force: true });
}
