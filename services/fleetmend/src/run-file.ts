import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a running `fleetmend up` tells other commands on this machine. It holds a password: mode 600. */
export interface RunFile {
  readonly url: string;
  readonly nats_url: string;
  readonly database_url: string;
  readonly pid: number;
}

const NAME = 'run.json';
const OWNER_ONLY = 0o600;

/** Written beside and renamed, so that nobody reads half of it. */
export async function writeRunFile(dataDir: string, content: RunFile): Promise<void> {
  const file = join(dataDir, NAME);
  const draft = `${file}.${content.pid}`;
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: OWNER_ONLY });
  await chmod(draft, OWNER_ONLY);
  await rename(draft, file);
}

/** Removes the file, unless another process has written its own by now. */
export async function removeRunFile(dataDir: string, pid: number): Promise<void> {
  if ((await read(dataDir))?.pid === pid) await rm(join(dataDir, NAME), { force: true });
}

/** What the `up` that uses this folder says; undefined when none runs (a file left by a killed one counts as none). */
export async function readRunFile(dataDir: string): Promise<RunFile | undefined> {
  const content = await read(dataDir);
  return content !== undefined && isAlive(content.pid) ? content : undefined;
}

async function read(dataDir: string): Promise<RunFile | undefined> {
  try {
    const value = JSON.parse(await readFile(join(dataDir, NAME), 'utf8')) as Partial<RunFile> | null;
    const complete = [value?.url, value?.nats_url, value?.database_url].every((one) => typeof one === 'string');
    return complete && Number.isInteger(value?.pid) ? (value as RunFile) : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
