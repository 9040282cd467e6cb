import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks of /proc are hundredths of a second on every Linux we know. */
const TICKS_PER_SECOND = 100;

interface Stat {
  readonly parent: number;
  readonly cpuSeconds: number;
}

/** CPU of a process and of its children that have ended, in seconds. */
function stat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const ticks = (fields[11] ?? 0) + (fields[12] ?? 0) + (fields[13] ?? 0) + (fields[14] ?? 0);
    return { parent: fields[1] ?? 0, cpuSeconds: ticks / TICKS_PER_SECOND };
  } catch {
    return undefined;
  }
}

/** CPU seconds of a process and everything below it. */
export function treeCpu(root: number): number {
  const all = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), stat(Number(name))]),
  );
  let sum = 0;
  const below = [root];
  for (let pid = below.pop(); pid !== undefined; pid = below.pop()) {
    sum += all.get(pid)?.cpuSeconds ?? 0;
    for (const [child, one] of all) if (one?.parent === pid) below.push(child);
  }
  return sum;
}

/** CPU seconds that all programs of the machine have used since its start. */
export function machineCpu(): number {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user = 0, nice = 0, system = 0] = line.split(/\s+/).slice(1).map(Number);
  return (user + nice + system) / TICKS_PER_SECOND;
}

/** Resident memory of one process, in MiB. */
export function residentMiB(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1024;
}

export class Service {
  private constructor(
    readonly name: string,
    private readonly child: ChildProcess,
  ) {}

  static start(name: string, env: Record<string, string>): Service {
    const child = spawn(process.execPath, [`dist/services/${name}/src/main.js`], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return new Service(name, child);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    await ended;
  }
}
