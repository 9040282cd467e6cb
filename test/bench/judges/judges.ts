import { jetstream } from '@nats-io/jetstream';
import { mkdtempSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { machineCpu, Service, treeCpu } from '../processes.js';
import { machine, publishTurns, reportKey, Reports, startStack, type Stack } from '../stack.js';
import { benchTurn } from '../turns.js';
import { ModelProcess, type ModelFigures } from './model-process.js';

const DELAY_MS = 500;
/** task_completion: what was asked and what came of it, then how far the one is the other. */
const CALLS = 2;
const JUDGED_MS = CALLS * DELAY_MS;
const SOURCE = { sessions: 100, bytes: 8_192, failingEvery: 0 };
const OTHERS = ['gating', 'mailbox', 'validation'] as const;

/** Scoring as so many processes with so many evaluations at once each. */
interface Shape {
  readonly processes: number;
  readonly each: number;
}
const SHAPES: readonly Shape[] = [
  { processes: 1, each: 16 },
  { processes: 4, each: 4 },
  { processes: 1, each: 64 },
  { processes: 4, each: 16 },
];

interface Rate {
  readonly turns: number;
  /** From the publish of the first turn to the last report, over the ideal time; start-up and tail are in it. */
  readonly whole: number;
  /** The same without the first and the last wave. */
  readonly steady: number;
  /** CPU per turn, by part. */
  readonly cpuMicros: Readonly<Record<string, number>>;
  /** Cores that programs other than this benchmark took meanwhile: on a quiet machine next to none. */
  readonly otherCores: number;
  readonly model: ModelFigures;
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const cell = (value: number, digits = 0): string => value.toFixed(digits);

function judgesEnv(stack: Stack, modelUrl: string, each: number): Record<string, string> {
  return {
    NATS_URL: stack.natsUrl,
    DATABASE_URL: stack.databaseUrl,
    FLEETMEND_LOG_LEVEL: 'warn',
    FLEETMEND_JUDGE_MODEL: 'bench-judge',
    FLEETMEND_JUDGE_BASE_URL: modelUrl,
    FLEETMEND_MAX_CONCURRENT_EVALS: String(each),
    FLEETMEND_TIER1_METRICS: '["task_completion"]',
    // All turns are published at once, and each is to be reported when it has been judged.
    FLEETMEND_REPORT_WAIT_S: '3600',
  };
}

/** Runs `work` with scoring in this shape and a model of its own. */
async function withScoring<T>(
  stack: Stack,
  { processes, each }: Shape,
  work: (scoring: readonly Service[], model: ModelProcess) => Promise<T>,
): Promise<T> {
  const model = await ModelProcess.start(DELAY_MS);
  const scoring = Array.from({ length: processes }, () => Service.start('scoring', judgesEnv(stack, model.url, each)));
  try {
    return await work(scoring, model);
  } finally {
    await Promise.all(scoring.map((service) => service.stop()));
    await model.stop();
  }
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await sleep(100);
}

async function rate(stack: Stack, others: readonly Service[], shape: Shape, seconds: number): Promise<Rate> {
  const run = `r${shape.processes}x${shape.each}`;
  const atOnce = shape.processes * shape.each;
  const turns = Math.round((seconds * 1000 * atOnce) / JUDGED_MS);
  return withScoring(stack, shape, async (scoring, model) => {
    const reports = await Reports.listen(stack);
    const warm = 4 * atOnce;
    await publishTurns(reports.nats, SOURCE, warm, `${run}warm`);
    await until(() => reports.at.size === warm);
    const parts: [string, readonly number[]][] = [
      ['scoring', scoring.map(({ pid }) => pid)],
      ...others.map(({ name, pid }): [string, number[]] => [name, [pid]]),
      ['nats', [stack.pids.nats]],
      ['postgres', [stack.pids.postgres]],
    ];
    const used = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + treeCpu(pid), 0);
    const before = parts.map(([, pids]) => used(pids));
    const othersBefore = machineCpu() - treeCpu(process.pid);
    const started = performance.now();
    await publishTurns(reports.nats, SOURCE, turns, run);
    await until(() => reports.at.size === warm + turns);
    const cpuMicros = Object.fromEntries(
      parts.map(([name, pids], index) => [name, ((used(pids) - (before[index] ?? 0)) / turns) * 1e6]),
    );
    const othersCpu = machineCpu() - treeCpu(process.pid) - othersBefore;
    const took = (performance.now() - started) / 1000;
    const times = Array.from({ length: turns }, (_, index) => reports.at.get(reportKey(SOURCE, index, run)) ?? NaN);
    times.sort((a, b) => a - b);
    await reports.close();
    const idealMs = (count: number): number => (count * JUDGED_MS) / atOnce;
    const between = (times[turns - atOnce - 1] ?? NaN) - (times[atOnce - 1] ?? NaN);
    return {
      ...{ turns, cpuMicros, otherCores: othersCpu / took, model: await model.figures() },
      whole: ((times.at(-1) ?? NaN) - started) / idealMs(turns),
      steady: between / idealMs(turns - 2 * atOnce),
    };
  });
}

/** What the same model gives this machine with nothing of ours in between: so many loops of two requests each. */
async function bare(atOnce: number, seconds: number): Promise<number> {
  const model = await ModelProcess.start(DELAY_MS);
  const material = benchTurn(SOURCE, 0, 'bare');
  const ask = async (name: string): Promise<void> => {
    const body = JSON.stringify({ messages: [material], response_format: { json_schema: { name } } });
    await (await fetch(`${model.url}/chat/completions`, { method: 'POST', body })).json();
  };
  const turns = Math.round((seconds * 1000 * atOnce) / JUDGED_MS);
  let next = 0;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next++ < turns) {
        await ask('task_and_outcome');
        await ask('task_completion');
      }
    }),
  );
  const ms = performance.now() - started;
  await model.stop();
  return ms / ((turns * JUDGED_MS) / atOnce);
}

/** Milliseconds from publish to the report on the live subject beyond the model's own, at one turn a second. */
async function latency(stack: Stack, seconds: number): Promise<{ p50: number; most: number }> {
  return withScoring(stack, { processes: 1, each: 16 }, async () => {
    const reports = await Reports.listen(stack);
    const js = jetstream(reports.nats);
    const took: number[] = [];
    // The first ones start connections and fill caches.
    for (let index = -5; index < seconds; index += 1) {
      const [run, at] = index < 0 ? ['lwarm', index + 5] : ['l', index];
      const started = performance.now();
      await js.publish('fm.default.turn.ended', benchTurn(SOURCE, at, run));
      const key = reportKey(SOURCE, at, run);
      await until(() => reports.at.has(key));
      if (index >= 0) took.push((reports.at.get(key) ?? NaN) - started - JUDGED_MS);
      // Not in step with anything that runs once a second.
      await sleep(137);
    }
    await reports.close();
    took.sort((a, b) => a - b);
    return { p50: took[Math.floor(took.length / 2)] ?? NaN, most: took.at(-1) ?? NaN };
  });
}

function row({ processes, each }: Shape, { turns, whole, steady, cpuMicros, otherCores, model }: Rate): string {
  const ideal = (processes * each * 1000) / JUDGED_MS;
  const sum = Object.values(cpuMicros).reduce((a, b) => a + b, 0);
  const cells = [
    `${processes} x ${each}`,
    ...[
      String(turns),
      cell(ideal),
      cell(ideal / whole, 1),
      cell(whole, 3),
      cell(steady, 3),
      String(model.mostAtOnce),
      cell(otherCores, 2),
    ],
    ...[sum, ...Object.values(cpuMicros)].map((value) => cell(value)),
  ];
  return `| ${cells.join(' | ')} |`;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '40' } } });
  const seconds = Number(values.seconds);
  const dir = mkdtempSync('/var/tmp/fleetmend-bench-');
  const stack = await startStack(dir);
  const others = OTHERS.map((name) => Service.start(name, judgesEnv(stack, 'http://127.0.0.1:9/v1', 1)));
  try {
    print(`Machine: ${machine()}`);
    for (const atOnce of [16, 64]) {
      say(`the model alone, ${atOnce} at once`);
      print(
        `Baseline of the same run: the model alone, ${atOnce} loops: ${cell(await bare(atOnce, seconds / 2), 3)} of the ideal time`,
      );
    }
    print(
      '\n| processes x evaluations | turns | ideal turns/s | turns/s | time over ideal | without first and last wave | most calls at once | cores used by other programs | CPU per turn (us) | scoring | gating | mailbox | validation | nats | postgres |',
    );
    print('|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|');
    for (const shape of SHAPES) {
      say(`${shape.processes} x ${shape.each}`);
      print(row(shape, await rate(stack, others, shape, seconds)));
    }
    say('latency');
    const { p50, most } = await latency(stack, 30);
    print(
      `\nFrom publish to report beyond the model's ${JUDGED_MS} ms, one turn at a time, 30 turns: median ${cell(p50)} ms, most ${cell(most)} ms`,
    );
  } finally {
    await Promise.all(others.map((service) => service.stop()));
    await stack.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

await main();
