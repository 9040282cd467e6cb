import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { freePort } from '../../support/free-port.js';
import { residentMiB, Service, treeCpu } from '../processes.js';
import { machine, startStack, type Stack } from '../stack.js';
import { body, type Body } from './bodies.js';
import { inParallel, Poster } from './poster.js';

/** What OpenTelemetry's SDKs send at most in one request. */
const BATCH = 512;
const BATCHES = 100;
const POSTERS = 4;
const MIB = 1024 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };
const PROTOBUF_TYPE = { 'content-type': 'application/x-protobuf' };

const print = (line: string): void => void process.stdout.write(`${line}\n`);

interface Gateway {
  readonly service: Service;
  readonly poster: Poster;
}

/** A gateway of its own for every measurement: memory that one needed is not given back for the next. */
async function withGateway<T>(stack: Stack, work: (gateway: Gateway) => Promise<T>): Promise<T> {
  const port = await freePort();
  const env = {
    NATS_URL: stack.natsUrl,
    DATABASE_URL: stack.databaseUrl,
    FLEETMEND_LOG_LEVEL: 'warn',
    FLEETMEND_HTTP_PORT: String(port),
  };
  const service = Service.start('gateway', env);
  const poster = new Poster(port);
  try {
    const warm = body(`warm-${port}`, 0, 8);
    while ((await poster.post(warm.json, JSON_TYPE).catch(() => 0)) !== 200) await sleep(100);
    return await work({ service, poster });
  } finally {
    poster.close();
    await service.stop();
  }
}

/** The most that a process ever had resident, in MiB. */
function peakMiB(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1024;
}

type Form = readonly [name: string, bytesOf: (body: Body) => Buffer, headers: Readonly<Record<string, string>>];
const FORMS: readonly Form[] = [
  ['JSON', ({ json }) => json, JSON_TYPE],
  ['protobuf', ({ protobuf }) => protobuf, PROTOBUF_TYPE],
  ['protobuf, gzip', ({ protobuf }) => gzipSync(protobuf), { ...PROTOBUF_TYPE, 'content-encoding': 'gzip' }],
];

async function throughput(stack: Stack, [name, bytesOf, headers]: Form): Promise<void> {
  const bodies = Array.from({ length: BATCHES }, (_, index) => body(name, index, BATCH));
  const sent = bodies.map(bytesOf);
  const plain = bodies.reduce((sum, one) => sum + (headers === JSON_TYPE ? one.json : one.protobuf).length, 0);
  const warm = bytesOf(body(`${name} warm`, 0, BATCH));
  await withGateway(stack, async ({ service, poster }) => {
    for (let at = 0; at < 10; at += 1) await poster.post(warm, headers);
    const cpu = treeCpu(service.pid);
    const began = performance.now();
    await inParallel(POSTERS, sent.length, async (index) => {
      const status = await poster.post(sent[index] ?? Buffer.alloc(0), headers);
      if (status !== 200) throw new Error(`answered ${status}`);
    });
    const seconds = (performance.now() - began) / 1_000;
    const spans = BATCHES * BATCH;
    const micros = ((treeCpu(service.pid) - cpu) / spans) * 1e6;
    const cells = [spans / seconds, plain / seconds / 1e6, plain / spans, micros].map((value, at) =>
      value.toFixed(at === 1 ? 1 : 0),
    );
    print(`| ${name} | ${cells.join(' | ')} | ${peakMiB(service.pid).toFixed(0)} |`);
  });
}

/** `posters` send the body at once; says how many were taken, how many told to come again, and the memory that it took. */
async function memory(stack: Stack, what: string, posters: number, bytes: Buffer, headers: Form[2]): Promise<void> {
  await withGateway(stack, async ({ service, poster }) => {
    const idle = residentMiB(service.pid);
    const statuses = new Map<number, number>();
    const began = performance.now();
    await inParallel(posters, posters, async () => {
      const status = await poster.post(bytes, headers);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    });
    const seconds = (performance.now() - began) / 1_000;
    const answers = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} x ${status}`);
    const cells = [idle.toFixed(0), peakMiB(service.pid).toFixed(0), seconds.toFixed(1)];
    print(`| ${what} | ${answers.join(', ')} | ${cells.join(' | ')} |`);
  });
}

/** A body of at most so many bytes, and not much less. */
function filled(bytes: number, bytesOf: (body: Body) => Buffer): Buffer {
  const each = bytesOf(body('sample', 0, 800)).length / 800;
  return bytesOf(body(`filled-${bytes}`, 0, Math.floor((bytes * 0.99) / each)));
}

async function main(): Promise<void> {
  const dir = mkdtempSync('/var/tmp/fleetmend-bench-');
  const stack = await startStack(dir);
  try {
    print(`Machine: ${machine()}\n`);
    print(`| form | spans/s | MB/s | bytes a span | CPU a span (us) | peak memory (MiB) |\n|---|---|---|---|---|---|`);
    for (const form of FORMS) await throughput(stack, form);
    print(`\n| bodies at once | answers | idle (MiB) | peak (MiB) | seconds |\n|---|---|---|---|---|`);
    for (const [name, bytesOf, headers] of FORMS.slice(0, 2)) {
      const whole = filled(64 * MIB, bytesOf);
      await memory(stack, `1 of 64 MiB, ${name}`, 1, whole, headers);
      await memory(stack, `100 of 1 MiB, ${name}`, 100, filled(MIB, bytesOf), headers);
      await memory(stack, `100 of 64 MiB, ${name}`, 100, whole, headers);
    }
    const bomb = gzipSync(Buffer.alloc(512 * MIB, 0x20));
    await memory(stack, '100 that unpack to 512 MiB', 100, bomb, { ...JSON_TYPE, 'content-encoding': 'gzip' });
  } finally {
    await stack.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

await main();
