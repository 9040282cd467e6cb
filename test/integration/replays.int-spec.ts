import { afterEach, describe, expect, it } from '@jest/globals';
import { evaluateTrial, type Observation, type TrialSettings } from '#domain/evidence';
import { eventually } from '#testing';
import { ReplayScene, type Behaviour } from './replay-scene.js';

let scene: ReplayScene;
afterEach(() => scene.close());

const RULE = 'r-one';
const PATIENT_MS = 60_000;

/** A host whose agent reads the rules, and does better by the rule. */
const helped: Behaviour = async (request, host) => {
  await host.started(request);
  await host.read(request, RULE);
  await host.turn(request, request.candidate_rule_id === RULE);
  await host.finished(request);
};

async function open(...[settings]: Parameters<typeof ReplayScene.open>): Promise<void> {
  scene = await ReplayScene.open(settings);
  await scene.candidate(RULE);
}

/** The first pair as soon as it has ended. */
const firstPair = () => eventually(async () => (await scene.pairs()).find(({ state }) => state !== 'running'), PATIENT_MS);

describe('replays of a candidate', () => {
  it('promote a rule that helps, by pairs from which the verdict can be had again', async () => {
    await open();
    for (const id of ['f1', 'f2', 'f3']) await scene.case(id);
    await scene.case('w1', 'win');
    scene.work(async (request, host) => {
      await host.read(request, RULE);
      // Wins go well with the rule and without.
      await host.turn(request, request.case_id === 'w1' || request.candidate_rule_id === RULE);
      await host.finished(request, { turn_index: 0, tape_share: 0.75 });
    });
    await eventually(async () => (await scene.status(RULE)) === 'active', PATIENT_MS);
    const rows = await scene.db.query<{ doc: Observation }>('SELECT doc FROM validation.observations ORDER BY seq');
    const [trial] = await scene.db.query<{ settings: TrialSettings; state: object; cases: { wins: string[] }; verdict: object }>(
      'SELECT settings, state, cases, verdict FROM validation.trials',
    );
    const evaluated = evaluateTrial(
      rows.map(({ doc }) => doc),
      { allocation: 0.5, settings: trial?.settings as TrialSettings, context: { ageDays: 0, chosenWins: ['w1'], winMetrics: 3 } },
    );
    expect(evaluated.verdict).toMatchObject({ verdict: 'promote', source: 'replay' });
    expect(evaluated.state).toEqual(trial?.state);
    expect(trial?.cases.wins).toEqual(['w1']);
    expect(trial?.verdict).toMatchObject({ tape_share: 0.75 });
  }, 120_000);

  it('run both runs of a pair under sessions of their own, and only one of them is told of the rule', async () => {
    await open({ replay_pairs_max: 1 });
    await scene.case('f1');
    const seen: { session: string; rule: string | null }[] = [];
    scene.work(async (request, host) => {
      seen.push({ session: request.session_id, rule: request.candidate_rule_id });
      await helped(request, host);
    });
    expect(await firstPair()).toEqual({ state: 'counted', reason: null });
    expect(new Set(seen.map(({ session }) => session)).size).toBe(2);
    expect(seen.map(({ rule }) => rule).sort()).toEqual([RULE, null].sort());
  }, 120_000);

  it('are no turns of the fleet: nothing is gated, noticed or tried by them', async () => {
    await open({ replay_pairs_max: 1 });
    await scene.case('f1');
    scene.work(helped);
    await firstPair();
    expect(await scene.db.query('SELECT 1 FROM gating.turn_evals')).toEqual([]);
    expect(await scene.db.query('SELECT 1 FROM validation.trial_sessions')).toEqual([]);
  }, 120_000);

  it.each<[string, Behaviour, string]>([
    ['dies', () => Promise.resolve(), 'replay_inconclusive'],
    [
      'hangs after its start',
      async (request, host) => {
        await host.started(request);
      },
      'replay_inconclusive',
    ],
    ['fails', (request, host) => host.finished(request, { error: 'the world is gone' }), 'replay_inconclusive'],
    [
      'runs another session',
      async (request, host) => {
        await host.turn(request, true);
        await host.finished(request, { session_id: 'another' });
      },
      'replay_inconclusive',
    ],
    [
      'gives a turn without traces',
      async (request, host) => {
        await host.read(request, RULE);
        await host.turn(request, null);
        await host.finished(request);
      },
      'replay_inconclusive',
    ],
    [
      'never reads the rules',
      async (request, host) => {
        await host.turn(request, true);
        await host.finished(request);
      },
      'candidate_not_exercised',
    ],
  ])(
    'say nothing when the worker %s',
    async (_, behaviour, reason) => {
      await open({ replay_timeout_s: 3, replay_pairs_max: 1 });
      await scene.case('f1');
      scene.work(behaviour);
      expect(await firstPair()).toEqual({ state: 'inconclusive', reason });
      expect(await scene.status(RULE)).toBe('candidate');
    },
    120_000,
  );

  it('count the first end that a worker tells, and not one that comes late', async () => {
    await open({ replay_timeout_s: 3, replay_pairs_max: 1 });
    await scene.case('f1');
    scene.work(async (request, host) => {
      await helped(request, host);
      await host.finished(request, { error: 'and again' });
    });
    expect(await firstPair()).toEqual({ state: 'counted', reason: null });
    const ignored = await scene.db.query(`SELECT 1 FROM journal.events WHERE type = 'replay_end_ignored'`);
    expect(ignored).toHaveLength(2);
  }, 120_000);

  it('do not charge waiting for an environment to the run, and give up an environment that never comes', async () => {
    await open({ replay_timeout_s: 2, replay_env_wait_timeout_s: 4, replay_pairs_max: 2 });
    await scene.case('f1');
    let first = true;
    scene.work(async (request, host) => {
      if (!first) return;
      first = false;
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      await helped(request, host);
    });
    expect(await firstPair()).toEqual({ state: 'inconclusive', reason: 'env_wait_timeout' });
    const [ran] = await scene.replays();
    expect(ran).toMatchObject({ state: 'scored' });
  }, 120_000);

  it('wait for a worker, and for a case', async () => {
    await open();
    const trial = () => scene.db.query('SELECT 1 FROM validation.trials');
    await eventually(async () => (await trial()).length === 1, PATIENT_MS);
    await scene.case('f1');
    await scene.db.query('UPDATE validation.trials SET cases_at = NULL');
    await eventually(
      async () => (await scene.db.query('SELECT 1 FROM validation.trials WHERE cases IS NOT NULL')).length === 1,
      PATIENT_MS,
    );
    expect(await scene.pairs()).toEqual([]);
    scene.work(helped);
    expect(await firstPair()).toEqual({ state: 'counted', reason: null });
  }, 120_000);
});
