import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './root.js';

const KEPT_LINES = 200;
const living = new Set<ChildProcess>();

// Whatever ends the test also ends what it started.
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

export function isBuilt(service: string): boolean {
  return existsSync(mainOf(service));
}

function mainOf(service: string): string {
  return join(ROOT, 'dist/services', service, 'src/main.js');
}

/** One copy of a service in a process of its own. */
export class ServiceProcess {
  private child: ChildProcess | undefined;
  private readonly kept: string[] = [];
  /** How often it ended though nobody asked. */
  crashes = 0;
  /** Started again whenever it ends by itself, as an orchestrator would. */
  immortal = false;

  /** `main`: another program than the service's own, with its arguments. */
  constructor(
    readonly name: string,
    private readonly env: Readonly<Record<string, string>>,
    private readonly main: readonly string[] = [mainOf(name)],
  ) {}

  /** The last lines that it wrote. */
  get output(): string {
    return this.kept.join('\n');
  }

  get running(): boolean {
    return this.child !== undefined;
  }

  start(): void {
    if (this.child !== undefined) return;
    const child = spawn(process.execPath, [...this.main], {
      cwd: tmpdir(),
      env: { PATH: process.env['PATH'] ?? '', ...this.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    living.add(child);
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => this.keep(data.toString()));
    child.once('exit', (code, signal) => {
      living.delete(child);
      if (this.child !== child) return;
      this.child = undefined;
      this.crashes += 1;
      this.keep(`${this.name} ended by itself (${signal ?? code ?? '?'})`);
      if (this.immortal) this.start();
    });
  }

  /** SIGKILL; gives when it is gone. */
  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  /** SIGTERM; gives when it is gone. */
  stop(): Promise<void> {
    return this.end('SIGTERM');
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (child === undefined) return;
    this.child = undefined;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill(signal);
    await gone;
  }

  private keep(text: string): void {
    this.kept.push(...text.trimEnd().split('\n'));
    this.kept.splice(0, Math.max(0, this.kept.length - KEPT_LINES));
  }
}
