import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import pg from 'pg';
import { acquireDataDir, type EmbeddedError, startEmbedded, startNats, startPostgres } from './index.js';
import { packageRoot } from './package-root.js';
import { freePort } from './supervise/free-port.js';
import { isAlive } from './supervise/process-identity.js';

jest.setTimeout(60_000);

let dir: string;
const stops: (() => Promise<void>)[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'fleetmend-embedded-'));
});

afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
  await nothingLeft(dir);
  rmSync(dir, { recursive: true, force: true });
});

/** The processes that name the folder in their command line: servers, watchers and test parents alike. */
function processesOf(folder: string): string[] {
  if (!existsSync('/proc')) return [];
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return command.includes(folder) ? [`${pid} ${command.slice(0, 120)}`] : [];
    } catch {
      return [];
    }
  });
}

async function nothingLeft(folder: string): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (processesOf(folder).length > 0 && Date.now() < deadline) await delay(50);
  expect(processesOf(folder)).toEqual([]);
}

async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function start(): Promise<{ natsUrl: string; databaseUrl: string; stop: () => Promise<void> }> {
  const embedded = await startEmbedded({ dir });
  stops.push(() => embedded.stop());
  return embedded;
}

async function listening(answer: (socket: Socket) => void): Promise<{ port: number; server: Server }> {
  // Read as well, or the sockets never close.
  const server = createServer((socket) => {
    socket.on('error', () => undefined).resume();
    answer(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(
    () =>
      new Promise((resolve) =>
        server.close(() => {
          resolve();
        }),
      ),
  );
  return { port: (server.address() as { port: number }).port, server };
}

async function failureOf(promise: Promise<unknown>): Promise<EmbeddedError> {
  return promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => error as EmbeddedError,
  );
}

interface Parent {
  child: ChildProcess;
  said: { natsUrl?: string; databaseUrl?: string; pids?: number[] };
  ended: Promise<unknown>;
}

async function startParent(wish = 'both'): Promise<Parent> {
  const child = spawn(process.execPath, [join(packageRoot(), 'libs/embedded/fixtures/parent.mjs'), dir, wish], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const said = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    void ended.then(() => {
      reject(new Error('the parent ended early'));
    });
  });
  return { child, ended, said: JSON.parse(said) };
}

describe('the embedded servers', () => {
  it('answer queries, keep what is published, and leave no process when stopped', async () => {
    const { natsUrl, databaseUrl, stop } = await start();

    const [settings] = await query<Record<string, string>>(
      databaseUrl,
      `SELECT current_database() AS db, current_user AS "user", current_setting('max_wal_size') AS wal, current_setting('checkpoint_timeout') AS checkpoint,
              current_setting('shared_buffers') AS buffers, current_setting('max_connections') AS connections, current_setting('listen_addresses') AS listen,
              current_setting('server_encoding') AS encoding, current_setting('lc_collate', true) AS collate, datcollate FROM pg_database WHERE datname = 'fleetmend'`,
    );
    expect(settings).toMatchObject({
      db: 'fleetmend',
      user: 'fleetmend',
      wal: '4GB',
      checkpoint: '15min',
      buffers: '256MB',
      connections: '200',
      listen: '127.0.0.1',
      encoding: 'UTF8',
      datcollate: 'C',
    });

    const nc = await connectNats({ servers: natsUrl });
    expect(nc.info?.max_payload).toBe(8 * 1024 * 1024);
    await (await jetstreamManager(nc)).streams.add({ name: 'T', subjects: ['t.>'] });
    expect((await jetstream(nc).publish('t.big', new Uint8Array(8 * 1024 * 1024 - 1024))).seq).toBe(1);
    await nc.close();

    await stop();
    await nothingLeft(dir);
  });

  it('continue with their data at the second start', async () => {
    const first = await start();
    await query(first.databaseUrl, 'CREATE TABLE kept AS SELECT 42 AS answer');
    const nc = await connectNats({ servers: first.natsUrl });
    await (await jetstreamManager(nc)).streams.add({ name: 'T', subjects: ['t.>'] });
    await jetstream(nc).publish('t.one', 'kept');
    await nc.close();
    await first.stop();

    const second = await start();
    expect(await query(second.databaseUrl, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    const again = await connectNats({ servers: second.natsUrl });
    expect((await (await jetstreamManager(again)).streams.info('T')).state.messages).toBe(1);
    await again.close();
  });

  it('refuse a wrong password, and keep theirs for the owner alone', async () => {
    const { databaseUrl } = await start();
    const wrong = new URL(databaseUrl);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow('password authentication failed');
    expect(statSync(join(dir, 'postgres/password')).mode & 0o777).toBe(0o600);
  });

  it('take another port when theirs is taken in between', async () => {
    const taken = await listening((socket) => socket.end());
    const tries: number[] = [];
    const pickPort = async (): Promise<number> => {
      const port = tries.length < 2 ? taken.port : await freePort();
      tries.push(port);
      return port;
    };
    const postgres = await startPostgres({ dir, pickPort });
    stops.push(() => postgres.stop());
    expect(await query(postgres.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(tries.length).toBe(3);

    tries.length = 0;
    const nats = await startNats({ dir, pickPort });
    stops.push(() => nats.stop());
    expect(nats.url).toBe(`nats://127.0.0.1:${tries.at(-1)}`);
    expect(nats.version).toMatch(/^\d+\.\d+\.\d+/);
  });

  it('report one that ends by itself', async () => {
    const crashes: string[] = [];
    const nats = await startNats({ dir, onCrash: (error) => crashes.push(error.message) });
    process.kill(nats.pid, 'SIGKILL');
    while (crashes.length === 0) await delay(20);
    expect(crashes[0]).toContain('nats-server ended by itself');
    await nats.stop();
  });

  it('start although postmaster.pid names another living program', async () => {
    const first = await startPostgres({ dir });
    const pidFile = readFileSync(join(dir, 'postgres/data/postmaster.pid'), 'utf8');
    process.kill(first.pid, 'SIGKILL');
    await first.stop();
    writeFileSync(join(dir, 'postgres/data/postmaster.pid'), pidFile.replace(/^\d+/, String(process.pid)));

    const second = await startPostgres({ dir });
    stops.push(() => second.stop());
    expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});

describe('a process that started the embedded servers', () => {
  it.each(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const)('takes them with it when ended by %s', async (signal) => {
    const parent = await startParent();
    expect(processesOf(dir).length).toBeGreaterThanOrEqual(4);
    parent.child.kill(signal);
    await parent.ended;
    await nothingLeft(dir);
  });

  it('takes them with it when an exception ends it, and the next start waits for them and takes the lock over', async () => {
    const parent = await startParent('throw');
    await parent.ended;
    const { databaseUrl } = await start();
    expect(await query(databaseUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('ends a server whose watcher was killed', async () => {
    const parent = await startParent('apart');
    const watchers = processesOf(dir).filter((line) => line.includes('watcher.mjs'));
    for (const watcher of watchers) process.kill(Number.parseInt(watcher, 10), 'SIGKILL');
    const deadline = Date.now() + 10_000;
    while (parent.said.pids?.some((pid) => isAlive(pid)) && Date.now() < deadline) await delay(50);
    expect(parent.said.pids?.some((pid) => isAlive(pid))).toBe(false);
    parent.child.kill('SIGKILL');
    await parent.ended;
  });

  it('keeps others out of its data folder, naming itself', async () => {
    const parent = await startParent();
    const error = await failureOf(startEmbedded({ dir }));
    expect(error.kind).toBe('data-dir-in-use');
    expect(error.message).toContain(`process ${parent.child.pid}`);
    parent.child.kill('SIGKILL');
    await parent.ended;
  });
});

describe('the lock of the data folder', () => {
  const lock = (): string => join(dir, 'fleetmend.lock');

  it('is taken over from a process that is dead, one whose number another has, and one cut off while writing', async () => {
    const gone = spawn('true');
    await new Promise((resolve) => gone.once('exit', resolve));
    for (const content of [
      JSON.stringify({ pid: gone.pid }),
      JSON.stringify({ pid: process.ppid, identity: 'another boot/1' }),
      '{"pi',
    ]) {
      writeFileSync(lock(), content);
      const held = await acquireDataDir(dir);
      expect(JSON.parse(readFileSync(lock(), 'utf8'))).toMatchObject({ pid: process.pid });
      await held.release();
      expect(existsSync(lock())).toBe(false);
    }
  });

  it('can be shared within one process and goes with the last share', async () => {
    const [one, two] = [await acquireDataDir(dir), await acquireDataDir(dir)];
    await one.release();
    await one.release();
    expect(existsSync(lock())).toBe(true);
    await two.release();
    expect(existsSync(lock())).toBe(false);
  });

  it('says what is wrong with a folder that cannot be', async () => {
    writeFileSync(join(dir, 'file'), '');
    const error = await failureOf(acquireDataDir(join(dir, 'file/below')));
    expect(error).toMatchObject({ kind: 'data-dir-unusable' });
    expect(error.message).toContain('a part of its path is a file');
  });
});

describe('servers given by URL', () => {
  it('are used as they are, without a data folder', async () => {
    const { natsUrl, databaseUrl } = await start();
    const given = await startEmbedded({ dir: join(dir, 'unused'), natsUrl, databaseUrl });
    expect(given).toMatchObject({ natsUrl, databaseUrl });
    await given.stop();
    expect(existsSync(join(dir, 'unused'))).toBe(false);
  });

  it('are named by variable, host and port when they cannot be reached, never with the password', async () => {
    const port = await freePort();
    const servers = { natsUrl: `nats://me:secret@127.0.0.1:${port}`, databaseUrl: `postgresql://me:secret@127.0.0.1:${port}/db` };
    for (const [name, url] of Object.entries(servers)) {
      const only = { dir, reachMs: 100, [name]: url };
      const error = await failureOf(startEmbedded(only));
      expect(error.kind).toBe('unreachable');
      expect(error.message).toMatch(name === 'natsUrl' ? /^NATS_URL/ : /^DATABASE_URL/);
      expect(error.message).toContain(`127.0.0.1:${port}`);
      expect(JSON.stringify([error, error.message, error.stack, error.cause])).not.toContain('secret');
    }
  });

  it('are told from other programs that answer', async () => {
    const web = await listening((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const error = await failureOf(startEmbedded({ dir, natsUrl: `nats://127.0.0.1:${web.port}`, reachMs: 100 }));
    expect(error.message).toContain('not as a NATS server');
  });
});

it('a NATS_SERVER_BIN that is no program is named', async () => {
  const error = await failureOf(startNats({ dir, natsServerBin: join(dir, 'none') }));
  expect(error).toMatchObject({ kind: 'binary-missing' });
  expect(error.message).toContain('NATS_SERVER_BIN');
});
