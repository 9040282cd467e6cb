import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startNats, startPostgres } from '#embedded';

/** A server of the test's own that can be stopped, killed and frozen, and comes back at the same address with its data. */
export interface OwnServer {
  readonly url: string;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** SIGKILL, as when the machine's memory runs out. */
  kill(): Promise<void>;
  /** SIGSTOP for a while, as when the machine hangs. */
  freeze(ms: number): Promise<void>;
  drop(): Promise<void>;
}

interface Running {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const START_TRIES = 10;

type Start = (dir: string, pickPort?: () => Promise<number>) => Promise<Running>;

export function ownNats(): Promise<OwnServer> {
  return ownServer((dir, pickPort) => startNats({ dir, pickPort }));
}

export function ownPostgres(): Promise<OwnServer> {
  return ownServer((dir, pickPort) => startPostgres({ dir, pickPort }));
}

async function ownServer(startIn: Start): Promise<OwnServer> {
  const dir = await mkdtemp(join(tmpdir(), `fleetmend-test-${process.pid}-`));
  // Root's Postgres runs as another user, who has to pass through.
  await chmod(dir, 0o711);
  let running: Running | undefined = await startIn(dir);
  const { url } = running;
  const port = Number(new URL(url).port);
  const stop = async (): Promise<void> => {
    await running?.stop();
    running = undefined;
  };
  return {
    url,
    stop,
    start: async () => {
      for (let tries = 1; running === undefined; tries += 1) {
        try {
          running = await startIn(dir, () => Promise.resolve(port));
        } catch (error) {
          // What a killed server left behind (its children, its port) takes a moment to go.
          if (tries === START_TRIES) throw error;
          await sleep(500);
        }
      }
    },
    kill: async () => {
      if (running !== undefined) process.kill(running.pid, 'SIGKILL');
      await stop();
    },
    freeze: async (ms) => {
      const pid = running?.pid;
      if (pid === undefined) return;
      process.kill(pid, 'SIGSTOP');
      await sleep(ms);
      process.kill(pid, 'SIGCONT');
    },
    drop: async () => {
      await stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
