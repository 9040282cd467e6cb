import { connect, headers as natsHeaders, type NatsConnection } from '@nats-io/transport-node';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { rpcSubject } from '#contracts';
import { freePort } from '../../support/free-port.js';
import { residentMiB, Service } from '../processes.js';
import { machine, startStack, type Stack } from '../stack.js';
import { query, scopeName, storeRules } from './library.js';
import { measure, type Ask } from './measure.js';

const RULES = 10_000;
const SCOPES = 200;
const SESSIONS = 1_000;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const session = (n: number): string => `agent-${n % SESSIONS}`;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** Over connections that stay open, as agents' hosts have them. */
function fetching(port: number, pathOf: (n: number) => string): Ask {
  return (n) =>
    new Promise((resolve, reject) => {
      const asked = get(
        { host: '127.0.0.1', port, agent, path: pathOf(n), headers: { 'fleetmend-session': session(n) } },
        (answer) => {
          let bytes = 0;
          answer.on('data', (chunk: Buffer) => (bytes += chunk.length));
          answer.once('end', () =>
            answer.statusCode === 200 ? resolve(bytes) : reject(new Error(`answered ${answer.statusCode ?? 0}`)),
          );
        },
      );
      asked.once('error', reject);
    });
}

function requesting(nc: NatsConnection, tool: 'list' | 'read' | 'search', argsOf: (n: number) => object): Ask {
  const subject = rpcSubject('default', `rules.${tool}`);
  return async (n) => {
    const headers = natsHeaders();
    headers.set('Fm-Session', session(n));
    const answer = await nc.request(subject, JSON.stringify(argsOf(n)), { headers, timeout: 10_000 });
    if (answer.headers?.has('Nats-Service-Error') === true) throw new Error(answer.headers.get('Nats-Service-Error'));
    return answer.data.length;
  };
}

/** @param pids the process asked, then validation, nats-server and Postgres, where they have a part in it */
async function row(name: string, ask: Ask, pids: readonly number[]): Promise<number> {
  const { perSecond, cpu, p50, p99, bytes } = await measure(ask, pids);
  const shares = Array.from({ length: 4 }, (_, index) => cpu[index]?.toFixed(0) ?? '').join(' | ');
  print(`| ${name} | ${bytes.toFixed(0)} | ${perSecond.toFixed(0)} | ${shares} | ${p50.toFixed(1)} | ${p99.toFixed(1)} |`);
  return bytes;
}

async function bareRow(name: string, bytes: number): Promise<void> {
  const child = fork('dist/test/bench/rules/bare.js');
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  await row(
    `${name}, a bare route`,
    fetching(port, () => `/?bytes=${Math.round(bytes)}`),
    [child.pid ?? 0],
  );
  child.disconnect();
}

async function run(stack: Stack): Promise<void> {
  await storeRules(stack.databaseUrl, RULES, SCOPES);
  const port = await freePort();
  const env = { NATS_URL: stack.natsUrl, DATABASE_URL: stack.databaseUrl, FLEETMEND_LOG_LEVEL: 'warn' };
  const validation = Service.start('validation', env);
  const gateway = Service.start('gateway', { ...env, FLEETMEND_HTTP_PORT: String(port) });
  const pids = [gateway.pid, validation.pid, stack.pids.nats, stack.pids.postgres];
  const nc = await connect({ servers: stack.natsUrl });
  try {
    const list = fetching(port, () => '/v1/rules');
    while ((await list(0).catch(() => 0)) === 0) await sleep(100);
    print(
      '| read | bytes | reads/s | CPU a read (us): gateway | validation | nats | postgres | p50 at 200/s (ms) | p99 at 200/s (ms) |\n|---|---|---|---|---|---|---|---|---|',
    );
    const scope = (n: number): string => scopeName(n % SCOPES);
    const search = fetching(port, (n) => `/v1/rules?q=${encodeURIComponent(query(n))}`);
    const searched = await row('search over HTTP', search, pids);
    await bareRow('search', searched);
    const read = fetching(port, (n) => `/v1/rules/scopes/${scope(n)}`);
    const readBytes = await row('scope over HTTP', read, pids);
    await bareRow('scope', readBytes);
    await row('list over HTTP', list, pids);
    await row(
      'search over NATS',
      requesting(nc, 'search', (n) => ({ query: query(n) })),
      pids,
    );
    await row(
      'scope over NATS',
      requesting(nc, 'read', (n) => ({ scope: scope(n) })),
      pids,
    );
    print(`\nGateway: ${residentMiB(gateway.pid).toFixed(0)} MiB resident with ${RULES} rules.`);
  } finally {
    await nc.close();
    agent.destroy();
    await gateway.stop();
    await validation.stop();
  }
}

async function main(): Promise<void> {
  const dir = mkdtempSync('/var/tmp/fleetmend-bench-');
  const stack = await startStack(dir);
  try {
    print(`Machine: ${machine()}\n`);
    await run(stack);
  } finally {
    await stack.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

await main();
