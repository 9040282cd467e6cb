import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '#testing';
import { isFleetTask, replayTask, ruleText, type Effect, type FleetOptions } from '#testing/fleet';
import { replayWorker, type ReplayWorker } from '../../libs/client/src/index.js';
import { httpRules } from '../support/reading-fleet.js';
import { ReplayScene } from './replay-scene.js';

const RULE = 'r-one';
const PATIENT_MS = 90_000;
/** An agent that fails at every task that no rule helps it with, and never at one that a helpful rule is about. */
const FLEET: FleetOptions = { seed: 3, rates: { misused_tool: 1 }, factors: { helpful: 0, placebo: 1, harmful: 1 } };

let scene: ReplayScene;
let worker: ReplayWorker | undefined;
afterEach(async () => {
  await worker?.close();
  worker = undefined;
  await scene.close();
});

/** A candidate, three captured failures, and a host whose worker runs them again, reading rules from the gateway. */
async function open(effect: Effect): Promise<void> {
  scene = await ReplayScene.open({ replay_pairs_max: 8 });
  await scene.candidate(RULE, ruleText('misused_tool', effect));
  for (const order of [4711, 4712, 4713])
    await scene.case(`case-${order}`, 'failure', { tool_correctness: 0 }, { task: 'misused_tool', order });
  worker = await replayWorker(
    async ({ sessionId, replayInput, turn }) => {
      if (!isFleetTask(replayInput)) throw new Error('this is no task of the fleet');
      await turn({ ...(await replayTask(sessionId, replayInput, httpRules(scene.url, sessionId), FLEET)) });
    },
    { url: scene.natsUrl, project: 'default' },
  );
}

const ended = () =>
  eventually(async () => {
    const pairs = await scene.pairs();
    return (await scene.status(RULE)) !== 'candidate' || (pairs.length === 8 && pairs.every(({ state }) => state !== 'running'))
      ? pairs
      : false;
  }, PATIENT_MS);

describe('a candidate that the host replays, with agents that read the rules from the gateway', () => {
  it('is promoted when its agents do better by it', async () => {
    await open('helpful');
    const pairs = await ended();
    expect(await scene.status(RULE)).toBe('active');
    expect(pairs.every(({ state }) => state === 'counted')).toBe(true);
    const shown = await scene.db.query<{ arm: string; shown: boolean }>(
      `SELECT DISTINCT v.arm, $1 = ANY(x.rule_ids) AS shown FROM validation.exposures x JOIN validation.replays v USING (s) WHERE x.rule_ids || x.withheld_ids @> ARRAY[$1::text] ORDER BY v.arm`,
      [RULE],
    );
    expect(shown).toEqual([
      { arm: 'with', shown: true },
      { arm: 'without', shown: false },
    ]);
  }, 120_000);

  it('stays a candidate when they do not', async () => {
    await open('placebo');
    const pairs = await ended();
    expect(pairs.map(({ state }) => state)).toEqual(Array(8).fill('counted'));
    expect(await scene.status(RULE)).toBe('candidate');
  }, 120_000);
});
