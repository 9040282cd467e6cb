import { connect } from '@nats-io/transport-node';
import { jetstream, jetstreamManager, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { mkdtempSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { fillStore } from './fill.js';
import { residentMiB, Service, treeCpu } from './processes.js';
import { machine, publishTurns, startStack, type Stack } from './stack.js';
import { benchTurn } from './turns.js';

const SERVICES = ['scoring', 'gating', 'mailbox', 'validation'] as const;

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function reported(db: pg.Client, run: string): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM gating.turn_evals e JOIN gating.heads h USING (s) WHERE h.session LIKE $1 AND e.rev > 0`,
    [`${run}-%`],
  );
  return rows[0]?.n ?? 0;
}

interface Throughput {
  readonly turnsPerSecond: number;
  readonly cpuMicros: Readonly<Record<string, number>>;
}

async function throughput(stack: Stack, services: readonly Service[], count: number, run: string): Promise<Throughput> {
  const source = { sessions: 1_000, bytes: 8_192, failingEvery: 20 };
  const nc = await connect({ servers: stack.natsUrl });
  const db = new pg.Client(stack.databaseUrl);
  await db.connect();
  await publishTurns(nc, source, 2_000, `${run}warm`);
  await untilReported(db, `${run}warm`, 2_000);
  const parts: [string, number][] = [
    ...services.map(({ name, pid }): [string, number] => [name, pid]),
    ['nats', stack.pids.nats],
    ['postgres', stack.pids.postgres],
  ];
  const before = parts.map(([, pid]) => treeCpu(pid));
  const started = performance.now();
  await publishTurns(nc, source, count, run);
  await untilReported(db, run, count);
  const seconds = (performance.now() - started) / 1000;
  const cpuMicros = Object.fromEntries(
    parts.map(([name, pid], index) => [name, ((treeCpu(pid) - (before[index] ?? 0)) / count) * 1e6]),
  );
  await nc.close();
  await db.end();
  return { turnsPerSecond: count / seconds, cpuMicros };
}

async function untilReported(db: pg.Client, run: string, count: number): Promise<void> {
  for (let seen = 0; seen < count; seen = await reported(db, run)) await new Promise((resolve) => setTimeout(resolve, 250));
}

/** After a burst the tables are vacuumed and checkpointed; a steady rate is measured when that is over. */
const SETTLE_MS = 15_000;

/** Milliseconds from publish to the report on the live subject, at a steady rate. */
async function latency(stack: Stack, perSecond: number, seconds: number, run: string): Promise<{ p50: number; p99: number }> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const nc = await connect({ servers: stack.natsUrl });
  const js = jetstream(nc);
  const sent = new Map<string, number>();
  const took: number[] = [];
  const subscription = nc.subscribe('live.fm.default.turn.evaluated', {
    callback: (_, message) => {
      const { session_id: session, turn_index: turn } = message.json<{ session_id: string; turn_index: number }>();
      const at = sent.get(`${session}|${turn}`);
      if (at !== undefined) took.push(performance.now() - at);
      sent.delete(`${session}|${turn}`);
    },
  });
  const source = { sessions: 100, bytes: 8_192, failingEvery: 20 };
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const turn = benchTurn(source, index, run);
    sent.set(`${run}-${index % source.sessions}|${Math.floor(index / source.sessions)}`, performance.now());
    await js.publish('fm.default.turn.ended', turn);
    await new Promise((resolve) => setTimeout(resolve, 1000 / perSecond));
  }
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  subscription.unsubscribe();
  await nc.close();
  if (sent.size > 0) throw new Error(`${sent.size} turns had no report`);
  took.sort((a, b) => a - b);
  return { p50: took[Math.floor(took.length * 0.5)] ?? 0, p99: took[Math.floor(took.length * 0.99)] ?? 0 };
}

/** What the same machine does with nothing of ours in between. */
async function baseline(stack: Stack): Promise<{ publish: number; insert: number }> {
  const nc = await connect({ servers: stack.natsUrl });
  const jsm = await jetstreamManager(nc);
  await jsm.streams.add({
    name: 'BENCH_RAW',
    subjects: ['bench.raw'],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
  });
  const js = jetstream(nc);
  const body = benchTurn({ sessions: 1, bytes: 8_192, failingEvery: 0 }, 0, 'raw');
  const count = 20_000;
  let next = 0;
  let started = performance.now();
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      while (next++ < count) await js.publish('bench.raw', body);
    }),
  );
  const publish = count / ((performance.now() - started) / 1000);
  await jsm.streams.delete('BENCH_RAW');
  await nc.close();
  const db = new pg.Client(stack.databaseUrl);
  await db.connect();
  await db.query(
    'CREATE SCHEMA IF NOT EXISTS bench; DROP TABLE IF EXISTS bench.raw; CREATE TABLE bench.raw (id bigint PRIMARY KEY, a uuid, b bigint, c text)',
  );
  started = performance.now();
  for (let batch = 0; batch < 100; batch += 1) {
    const rows = Array.from({ length: 256 }, (_, i) => ({
      id: batch * 256 + i,
      a: '00000000-0000-0000-0000-000000000000',
      b: i,
      c: 'a small row of a hundred bytes or so, as the hot path writes them',
    }));
    await db.query('INSERT INTO bench.raw SELECT * FROM json_to_recordset($1::json) AS r(id bigint, a uuid, b bigint, c text)', [
      JSON.stringify(rows),
    ]);
  }
  const insert = 25_600 / ((performance.now() - started) / 1000);
  await db.query('DROP SCHEMA bench CASCADE');
  await db.end();
  return { publish, insert };
}

const sumOf = (parts: Readonly<Record<string, number>>): number => Object.values(parts).reduce((a, b) => a + b, 0);
const cell = (value: number, digits = 0): string => value.toFixed(digits);

function table(title: string, one: Throughput, lat: { p50: number; p99: number }): void {
  print(`\n### ${title}\n`);
  print(
    `| turns/s | CPU per turn outside the generator (us) | ${Object.keys(one.cpuMicros).join(' | ')} | p50 at 50/s (ms) | p99 at 50/s (ms) |`,
  );
  print(
    `|---|---|${Object.keys(one.cpuMicros)
      .map(() => '---|')
      .join('')}---|---|`,
  );
  print(
    `| ${cell(one.turnsPerSecond)} | ${cell(sumOf(one.cpuMicros))} | ${Object.values(one.cpuMicros)
      .map((v) => cell(v))
      .join(' | ')} | ${cell(lat.p50, 1)} | ${cell(lat.p99, 1)} |`,
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      turns: { type: 'string', default: '30000' },
      stored: { type: 'string', default: '1000000' },
      seconds: { type: 'string', default: '30' },
    },
  });
  const [turns, stored, seconds] = [values.turns, values.stored, values.seconds].map(Number) as [number, number, number];
  const dir = mkdtempSync('/var/tmp/fleetmend-bench-');
  const stack = await startStack(dir);
  const env = {
    NATS_URL: stack.natsUrl,
    DATABASE_URL: stack.databaseUrl,
    FLEETMEND_LOG_LEVEL: 'warn',
    FLEETMEND_CIRCUIT_BREAKER_MAX_NOTICES: '5',
  };
  const services = SERVICES.map((name) => Service.start(name, env));
  try {
    print(`Machine: ${machine()}`);
    const raw = await baseline(stack);
    print(
      `Baseline of the same run: JetStream publish of 8 KiB ${cell(raw.publish)}/s (64 in flight), multi-row insert ${cell(raw.insert)} rows/s (256 a statement)`,
    );
    say('throughput on an empty store');
    table('Empty store', await throughput(stack, services, turns, 'a'), await latency(stack, 50, seconds, 'la'));
    print('\n| service | memory (MiB) |\n|---|---|');
    for (const { name, pid } of services) print(`| ${name} | ${cell(residentMiB(pid))} |`);
    if (stored > 0) {
      say(`filling the store with ${stored} turns`);
      await fillStore(stack.databaseUrl, stored);
      table(`${stored} stored turns`, await throughput(stack, services, turns, 'b'), await latency(stack, 50, seconds, 'lb'));
    }
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    await stack.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

await main();
