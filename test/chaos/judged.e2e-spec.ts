import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TurnInput } from '#recordings';
import { fleet } from '../support/fleet.js';
import { tauBenchTurns } from '../support/recordings.js';
import { sharedIsThere } from '../support/root.js';
import { chaosRound } from './harness.js';
import { World } from './world.js';

const MINUTE = 60_000;
const SEED = Number(process.env['CHAOS_SEED'] ?? Math.floor(Math.random() * 1_000_000));
/** A fraction of the recordings: every turn is judged, twice over. `npm run soak -- --judges` does all. */
const SESSIONS = 15;

describe('killed at random moments, with a model that judges', () => {
  let world: World;
  let turns: TurnInput[];

  beforeAll(async () => {
    turns = sharedIsThere('the tau-bench recordings judged under chaos')
      ? someSessions(tauBenchTurns())
      : fleet({ seed: SEED, sessions: 12, turns: 10 });
    world = await World.start({ judged: true });
  }, MINUTE);

  afterAll(() => world.close(), MINUTE);

  it(
    `comes to the final state of a clean run, however often the model is asked, seed ${SEED}`,
    async () => {
      const begun = Date.now();
      const clean = await world.clean('clean', turns);
      const cleanMs = Date.now() - begun;
      const asked = world.model?.requests.length ?? 0;
      const { disturbances, wrong } = await chaosRound(world, { project: 'chaos', seed: SEED, turns, clean, disturbMs: 15_000 });
      const again = (world.model?.requests.length ?? 0) - asked;
      process.stderr.write(
        `judged chaos, seed ${SEED}: ${turns.length} turns, asked ${asked} times in ${cleanMs} ms, then ${again} times in ${Date.now() - begun - cleanMs} ms: ${JSON.stringify(disturbances)}\n`,
      );
      expect(wrong).toEqual([]);
      expect(await judgedValues('clean')).toBeGreaterThan(turns.length / 2);
      expect(await judgedValues('chaos')).toBeGreaterThanOrEqual(await judgedValues('clean'));
      // Who was killed has paid without writing it down; nobody writes down what was not asked.
      expect(await paidCalls('clean')).toBe(asked);
      expect(await paidCalls('chaos')).toBeLessThanOrEqual(again);
    },
    6 * MINUTE,
  );

  async function judgedValues(project: string): Promise<number> {
    const [row] = await world.loop.rows<{ n: number }>(
      "SELECT count(*)::int AS n FROM scoring.scores JOIN scoring.sessions USING (s) WHERE project = $1 AND source = 'judge' AND status = 'scored'",
      [project],
    );
    return row?.n ?? 0;
  }

  async function paidCalls(project: string): Promise<number> {
    const [row] = await world.loop.rows<{ n: number }>('SELECT sum(calls)::int AS n FROM scoring.usage WHERE project = $1', [
      project,
    ]);
    return row?.n ?? 0;
  }
});

/** Every sixth session, so that tasks of all kinds are among them. */
function someSessions(turns: readonly TurnInput[]): TurnInput[] {
  const names = [...new Set(turns.map(({ session_id: session }) => session))];
  const some = new Set(names.filter((_, at) => at % Math.floor(names.length / SESSIONS) === 0));
  return turns.filter(({ session_id: session }) => some.has(session));
}
