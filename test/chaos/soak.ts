import { parseArgs } from 'node:util';
import type { TurnInput } from '#recordings';
import { fleet } from '../support/fleet.js';
import { tauBenchTurns } from '../support/recordings.js';
import { sharedIsThere } from '../support/root.js';
import { chaosRound } from './harness.js';
import { World } from './world.js';

const DISTURB_MS = 30_000;
const FLEET = { sessions: 36, turns: 30 };
const JUDGED_FLEET = { sessions: 12, turns: 10 };

/**
 * `npm run soak -- --minutes 30 --seed 7`: rounds of chaos, each with a seed of its own, until the time is over or one fails.
 * `--judges`: with a model that judges.
 */
async function soak(): Promise<number> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '10' },
      seed: { type: 'string' },
      judges: { type: 'boolean', default: false },
    },
  });
  const first = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
  const until = Date.now() + Number(values.minutes) * 60_000;
  const recordings = sharedIsThere('the tau-bench recordings in the soak run') ? tauBenchTurns() : [];
  const world = await World.start({ judged: values.judges });
  try {
    for (let seed = first; seed === first || Date.now() < until; seed += 1) {
      const turns = [...recordings, ...fleet({ seed, ...(values.judges ? JUDGED_FLEET : FLEET) })];
      const wrong = await oneRound(world, seed, turns);
      if (wrong.length === 0) continue;
      console.log(`seed ${seed}:\n${wrong.join('\n')}`);
      return 1;
    }
    return 0;
  } finally {
    await world.close();
  }
}

async function oneRound(world: World, seed: number, turns: readonly TurnInput[]): Promise<string[]> {
  const begun = Date.now();
  const clean = await world.clean(`clean-${seed}`, turns);
  const { disturbances, wrong } = await chaosRound(world, {
    project: `chaos-${seed}`,
    seed,
    turns,
    clean,
    disturbMs: DISTURB_MS,
  });
  const seconds = Math.round((Date.now() - begun) / 1000);
  console.log(`seed ${seed}: ${turns.length} turns, ${seconds} s, ${JSON.stringify(disturbances)}, ${wrong.length} wrong`);
  return wrong;
}

// Ctrl-C: an exit that ends what was started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.exitCode = await soak();
