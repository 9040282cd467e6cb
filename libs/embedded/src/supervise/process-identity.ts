import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { codeOf } from '../errors.js';

const STATE_FIELD = 0;
const START_TIME_FIELD = 19;

/** The fields of /proc/<pid>/stat after the command's name, which may itself hold spaces and brackets. */
function procStat(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

function ps(pid: number, column: string): string | undefined {
  try {
    const output = execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return output.trim() || undefined;
  } catch {
    return undefined;
  }
}

const hasProc = existsSync('/proc/self/stat');

/** Whether a process of that number runs. A zombie does not: in a container without an init nobody may ever reap it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs, as another user.
    if (codeOf(error) !== 'EPERM') return false;
  }
  const state = hasProc ? procStat(pid)?.[STATE_FIELD] : ps(pid, 'stat')?.charAt(0);
  return state !== 'Z';
}

/**
 * Tells a process from a later one with the same number: the boot and the start time in ticks on Linux, the start time elsewhere.
 * Undefined when the process is gone or the system does not say.
 */
export function identityOf(pid: number): string | undefined {
  if (!hasProc) return ps(pid, 'lstart');
  const ticks = procStat(pid)?.[START_TIME_FIELD];
  if (ticks === undefined) return undefined;
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${ticks}`;
}

/** The name of the program a process runs (at most 15 characters on Linux), without its folder. */
export function programOf(pid: number): string | undefined {
  if (!hasProc) return ps(pid, 'comm')?.split('/').at(-1);
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined;
  }
}
