import { setTimeout as sleep } from 'node:timers/promises';
import type { FinalState } from '#checker';
import type { TurnInput } from '#recordings';
import { reset, status } from '#testing';
import { hashedJudge } from '../support/hashed-judge.js';
import { difference } from '../support/loop.js';
import { pick, seeded, shuffled } from '../support/random.js';
import type { World } from './world.js';

export interface RoundOptions {
  readonly project: string;
  readonly seed: number;
  readonly turns: readonly TurnInput[];
  /** The final state of an undisturbed import of the same turns. */
  readonly clean: FinalState;
  /** How long to disturb, at least, ms. */
  readonly disturbMs: number;
}

export interface RoundResult {
  /** What was done to the loop, by kind. */
  readonly disturbances: Readonly<Record<string, number>>;
  /** What is wrong, for a person; nothing when all is well. */
  readonly wrong: string[];
}

const CHUNK = 25;

type Disturbance = (world: World, random: () => number) => Promise<void>;

const killService: Disturbance = async (world, random) => {
  const victim = pick(random, world.processes);
  await victim.kill();
  await sleep(random() * 600);
  victim.start();
};

const killAll: Disturbance = async (world, random) => {
  await Promise.all(world.processes.map((service) => service.kill()));
  await sleep(random() * 1_000);
  for (const service of world.processes) service.start();
};

const terminateBackends: Disturbance = async (world) => {
  await world.loop.db
    .query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'fleetmend-%' AND random() < 0.7")
    .catch(() => undefined);
};

const killNats: Disturbance = async (world, random) => {
  await world.nats.kill();
  await sleep(random() * 800);
  await world.nats.start();
};

const restartNats: Disturbance = async (world, random) => {
  await world.nats.stop();
  await sleep(random() * 500);
  await world.nats.start();
};

const freezeNats: Disturbance = (world, random) => world.nats.freeze(300 + random() * 3_000);

const killPostgres: Disturbance = async (world, random) => {
  await world.postgres.kill();
  await sleep(random() * 500);
  await world.postgres.start();
};

/** Workers that hung for longer than their lease: others take over what they still do. */
const outliveLeases: Disturbance = async (world) => {
  await world.loop.db
    .query('UPDATE scoring.score_jobs SET leased_until = now() WHERE leased_until > now() AND random() < 0.5')
    .catch(() => undefined);
};

/** The model fails for a while: longer than the retries of one call, at times. */
const failModel: Disturbance = async (world, random) => {
  world.model?.script(() => (random() < 0.5 ? status(503) : reset()));
  await sleep(random() * 2_500);
  world.model?.script(hashedJudge);
};

/** By name, as often as they stand here. */
const DISTURBANCES: readonly (readonly [string, Disturbance])[] = [
  ...Array.from({ length: 14 }, () => ['service killed', killService] as const),
  ['all services killed', killAll],
  ['backends terminated', terminateBackends],
  ['backends terminated', terminateBackends],
  ['nats-server killed', killNats],
  ['nats-server restarted', restartNats],
  ['nats-server frozen', freezeNats],
  ['postgres killed', killPostgres],
];

/** The same, and what can happen to whoever asks a model. */
const WITH_JUDGES: readonly (readonly [string, Disturbance])[] = [
  ...DISTURBANCES,
  ...Array.from({ length: 3 }, () => ['leases outlived', outliveLeases] as const),
  ['scoring killed, its leases over', (world) => world.endLeases()],
  ['model failing', failModel],
];

/** Imports the turns twice over, by every way there is, while things are killed at random moments; then compares. */
export async function chaosRound(world: World, options: RoundOptions): Promise<RoundResult> {
  const { project, seed, turns, disturbMs } = options;
  await world.createProject(project);
  const disturbances: Record<string, number> = {};
  const done = new AbortController();
  const until = Date.now() + disturbMs;
  const disturbing = disturb(world, { seed, done: done.signal, disturbances });
  try {
    await Promise.all([importSlowly(world, options, turns), importElsewhere(world, options, shuffled(turns, seed))]);
    await sleep(Math.max(0, until - Date.now()));
  } finally {
    done.abort();
    await disturbing;
  }
  for (const service of world.processes) service.start();
  if (world.model !== undefined) await world.endLeases();
  return { disturbances, wrong: await whatIsWrong(world, options) };
}

async function disturb(
  world: World,
  { seed, done, disturbances }: { seed: number; done: AbortSignal; disturbances: Record<string, number> },
): Promise<void> {
  const random = seeded(seed);
  while (!done.aborted) {
    await sleep(50 + random() * 700);
    const [name, act] = pick(random, world.model === undefined ? DISTURBANCES : WITH_JUDGES);
    await act(world, random);
    disturbances[name] = (disturbances[name] ?? 0) + 1;
  }
}

/** Straight to the stream, in order, in small portions with pauses, so that there is a middle to be killed in. */
async function importSlowly(
  world: World,
  { project, seed, disturbMs }: RoundOptions,
  turns: readonly TurnInput[],
): Promise<void> {
  const random = seeded(seed + 1);
  const pause = (disturbMs * CHUNK) / Math.max(1, turns.length);
  for (let from = 0; from < turns.length; from += CHUNK) {
    await world.loop.publish(project, turns.slice(from, from + CHUNK));
    await sleep(random() * 2 * pause);
  }
}

/** Through the gateway where there is one, in any order. */
async function importElsewhere(world: World, { project }: RoundOptions, turns: readonly TurnInput[]): Promise<void> {
  const { gateway, loop } = world;
  if (gateway === undefined) return loop.publish(project, turns);
  await gateway.publish(project, turns, (turn) => loop.accepted(project, turn));
}

async function whatIsWrong(world: World, { project, clean }: RoundOptions): Promise<string[]> {
  const { loop } = world;
  try {
    await loop.quiet(world.quietMs);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
  const other = difference(clean, await loop.state(project));
  const conflicts = await loop.rows(
    "SELECT session, t FROM journal.events WHERE project = $1 AND type = 'turn_conflict' LIMIT 5",
    [project],
  );
  return [
    ...(other === undefined ? [] : [`the final state is another: ${other}`]),
    ...(await loop.violations()),
    ...Object.entries(await loop.deadLetters(project)).map(
      ([subject, number]) => `${number} messages were put aside: ${subject}`,
    ),
    ...conflicts.map((row) => `the same turn was taken for another one: ${JSON.stringify(row)}`),
  ];
}
