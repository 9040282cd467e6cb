import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TurnInput } from '#recordings';
import { fleet } from '../support/fleet.js';
import { tauBenchTurns } from '../support/recordings.js';
import { sharedIsThere } from '../support/root.js';
import { chaosRound } from './harness.js';
import { World } from './world.js';

const MINUTE = 60_000;
/** Another one on every run, so that many runs see many moments; printed, so that one can be repeated: CHAOS_SEED=… */
const SEED = Number(process.env['CHAOS_SEED'] ?? Math.floor(Math.random() * 1_000_000));

describe('killed at random moments', () => {
  let world: World;
  let turns: TurnInput[];

  beforeAll(async () => {
    turns = sharedIsThere('the tau-bench recordings under chaos')
      ? tauBenchTurns()
      : fleet({ seed: SEED, sessions: 36, turns: 24 });
    world = await World.start();
  }, MINUTE);

  afterAll(() => world.close(), MINUTE);

  it(
    `comes to the final state of a clean run, seed ${SEED}`,
    async () => {
      const clean = await world.clean('clean', turns);
      const { disturbances, wrong } = await chaosRound(world, { project: 'chaos', seed: SEED, turns, clean, disturbMs: 20_000 });
      process.stderr.write(`chaos, seed ${SEED}: ${JSON.stringify(disturbances)}\n`);
      expect(wrong).toEqual([]);
      expect(Object.values(disturbances).reduce((sum, number) => sum + number, 0)).toBeGreaterThan(5);
      expect(clean.lines.length).toBeGreaterThan(turns.length);
    },
    5 * MINUTE,
  );
});
