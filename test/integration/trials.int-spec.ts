import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { evaluateTrial, type Observation, type TrialSettings } from '#domain/evidence';
import { sessionKey } from '#domain/ids';
import { TrialScene, type Turn } from './trial-scene.js';

let scene: TrialScene;
afterEach(() => scene.close());

const RULE = 'r-one';
const BREACH: Turn = { fired: ['breach:tool_correctness'] };

async function open(...[patch, workers]: Parameters<typeof TrialScene.open>): Promise<void> {
  scene = await TrialScene.open(patch, workers);
  await scene.candidate(RULE);
}

/** A session that comes to the rule and then breaches, or goes through its window. */
async function goes(session: string, breached: boolean): Promise<void> {
  await scene.exposed(session, [RULE]);
  if (breached) await scene.turn(session, 0, BREACH);
  else {
    await scene.turn(session, 0, { final: true });
    await scene.turn(session, 1);
  }
}

async function recomputed(rule = RULE) {
  const rows = await scene.db.query<{ doc: Observation }>(
    'SELECT doc FROM validation.observations WHERE rule = $1 ORDER BY seq',
    [rule],
  );
  const [trial] = await scene.db.query<{ settings: TrialSettings; state: object; verdict: { verdict: string } | null }>(
    'SELECT settings, state, verdict FROM validation.trials WHERE rule = $1',
    [rule],
  );
  if (trial === undefined) throw new Error('there is no trial');
  const evaluated = evaluateTrial(
    rows.map(({ doc }) => doc),
    { allocation: 0.5, settings: trial.settings },
  );
  return { trial, evaluated, observations: rows.length };
}

describe('a session that comes to a candidate', () => {
  it('enters its trial once, in both arms alike, by the hash', async () => {
    await open();
    const [treated, control] = [scene.sessionIn(RULE, 'treatment'), scene.sessionIn(RULE, 'control')];
    for (const session of [control, treated, control]) await scene.exposed(session, [RULE]);
    expect(await scene.db.query('SELECT session, entry::int, arm FROM validation.trial_sessions ORDER BY entry', [])).toEqual([
      { session: control, entry: 1, arm: 'control' },
      { session: treated, entry: 2, arm: 'treatment' },
    ]);
  });

  it('enters the trials of all candidates that it came to, and of no rule that is not one', async () => {
    await open();
    await scene.candidate('r-two');
    await scene.candidate('r-active');
    await scene.db.query("UPDATE rules.rules SET status = 'active' WHERE id = 'r-active'");
    await scene.exposed('s', [RULE, 'r-two', 'r-active', 'r-unknown']);
    const rows = await scene.db.query<{ rule: string }>('SELECT rule FROM validation.trial_sessions ORDER BY rule');
    expect(rows.map(({ rule }) => rule)).toEqual([RULE, 'r-two']);
  });

  it.each<[string, Turn[], (number | null)[]]>([
    ['has no outcome while its window is open', [{}, {}, {}, {}], [null]],
    ['has outcome 0 at the end of its window', [{}, {}, {}, {}, {}], [0]],
    ['has outcome 1 at a breach', [{}, BREACH], [1]],
    ['is not judged by another metric', [{ fired: ['breach:coherence'] }, {}, {}, {}, {}], [0]],
    ['is judged by any condition of its metric', [{ fired: ['stall:tool_correctness'] }], [1]],
    ['is not judged by turns that were skipped', [{ skipped: true }, {}, {}, {}, {}], [null]],
    ['waits for the report of its last turn', [{}, {}, {}, {}, { reported: false }], [null]],
    ['closes with its final turn', [{}, { final: true }], [0]],
  ])('%s', async (_, turns, outcomes) => {
    await open();
    await scene.exposed('s', [RULE]);
    for (const [t, turn] of turns.entries()) await scene.turn('s', t, turn);
    expect(await scene.outcomes(RULE)).toEqual(outcomes);
  });

  it('is not judged by turns that were accepted before it came', async () => {
    await open();
    await scene.turn('s', 0, BREACH);
    await scene.exposed('s', [RULE]);
    expect(await scene.outcomes(RULE)).toEqual([null]);
  });

  it('closes when it was idle long enough', async () => {
    await open({ trial_session_idle_s: 900 });
    await scene.exposed('a', [RULE]);
    await scene.beat();
    expect(await scene.outcomes(RULE)).toEqual([null]);
    await scene.db.query(`UPDATE validation.trial_sessions SET exposure_us = exposure_us - 900000000, check_at = now()`);
    await scene.beat();
    expect(await scene.outcomes(RULE)).toEqual([0]);
  });

  it('closes when it is ended', async () => {
    await open();
    await scene.exposed('a', [RULE]);
    await scene.turn('a', 0);
    await scene.ended('a');
    expect(await scene.outcomes(RULE)).toEqual([0]);
  });

  it('stays breached when a later revision takes the breach back, also when it is exposed only then', async () => {
    await open();
    const exposure = scene.exposure('s', [RULE]);
    const first = await scene.plant('s', 0, BREACH);
    const second = await scene.plant('s', 0, { fired: [], revision: 2 });
    await scene.report([first]);
    await scene.report([second]);
    await scene.expose([exposure]);
    expect(await scene.outcomes(RULE)).toEqual([1]);
  });

  it('keeps an outcome that is known, whatever comes later', async () => {
    await open();
    await scene.exposed('s', [RULE]);
    await scene.turn('s', 0);
    await scene.ended('s');
    await scene.turn('s', 1, BREACH);
    expect(await scene.outcomes(RULE)).toEqual([0]);
  });
});

describe('a trial', () => {
  it('counts outcomes in the order of entry, not as they become known', async () => {
    await open();
    await scene.exposed('first', [RULE]);
    await goes('second', true);
    expect((await recomputed()).observations).toBe(0);
    await scene.ended('first');
    const rows = await scene.db.query<{ s: string }>('SELECT s FROM validation.observations ORDER BY seq');
    expect(rows.map(({ s }) => s)).toEqual(['first', 'second'].map((session) => sessionKey('default', session)));
  });

  it('promotes a rule that helps, says so once, and stops', async () => {
    await open();
    for (let n = 0; n < 12; n += 1) {
      await goes(scene.sessionIn(RULE, 'control'), true);
      await goes(scene.sessionIn(RULE, 'treatment'), false);
    }
    expect(await scene.status(RULE)).toBe('active');
    expect(scene.subjects()).toEqual(['fm.default.rule.promoted.refunds', 'fm.default.rule.changed']);
    const { trial, evaluated } = await recomputed();
    expect(trial.verdict).toMatchObject({ verdict: 'promote' });
    expect(evaluated.verdict).toMatchObject({ verdict: 'promote' });
    expect(evaluated.state).toEqual(trial.state);
    const journal = await scene.db.query(
      `SELECT type, rule FROM journal.events WHERE type LIKE 'rule%' OR type LIKE 'trial%' ORDER BY at`,
    );
    expect(journal).toEqual([
      { type: 'trial_started', rule: RULE },
      { type: 'rule_promoted', rule: RULE },
    ]);
  });

  it('retires a rule that harms', async () => {
    await open();
    for (let n = 0; n < 12; n += 1) {
      await goes(scene.sessionIn(RULE, 'treatment'), true);
      await goes(scene.sessionIn(RULE, 'control'), false);
    }
    expect(await scene.status(RULE)).toBe('retired');
    expect(await scene.db.query('SELECT retired_reason FROM rules.rules')).toEqual([{ retired_reason: 'harmful' }]);
    expect(scene.subjects()).toContain('fm.default.rule.retired.refunds');
  });

  it('retires what does nothing as unproven at its cap', async () => {
    await open({ trial_max_sessions: 6 });
    for (const breached of [true, false, true]) {
      await goes(scene.sessionIn(RULE, 'treatment'), breached);
      await goes(scene.sessionIn(RULE, 'control'), breached);
    }
    expect(await scene.db.query('SELECT status, retired_reason FROM rules.rules')).toEqual([
      { status: 'retired', retired_reason: 'unproven' },
    ]);
  });

  it('ends by its age, even of a rule that nobody reads', async () => {
    await open();
    await scene.beat();
    await scene.db.query("UPDATE validation.trials SET started_at = now() - interval '31 days'");
    await scene.beat();
    expect(await scene.status(RULE)).toBe('retired');
  });

  it('keeps the settings it began with', async () => {
    await open({ trial_max_sessions: 2 });
    await scene.beat();
    await scene.settings(2, { trial_max_sessions: 1_000 });
    await goes(scene.sessionIn(RULE, 'treatment'), true);
    await goes(scene.sessionIn(RULE, 'control'), true);
    expect(await scene.status(RULE)).toBe('retired');
  });

  it('of a withdrawn rule is paused, and its verdict carried out when the rule is restored', async () => {
    await open({ trial_max_sessions: 2 });
    await scene.exposed('a', [RULE]);
    await scene.exposed('b', [RULE]);
    await scene.db.query('UPDATE rules.rules SET withdrawn_at = now()');
    await scene.ended('a');
    await scene.ended('b');
    await scene.beat();
    expect(await scene.status(RULE)).toBe('candidate');
    await scene.db.query('UPDATE rules.rules SET withdrawn_at = NULL');
    await scene.beat();
    expect(await scene.status(RULE)).toBe('retired');
  });

  it('of a rule that an operator retired stops, and says nothing', async () => {
    await open();
    await scene.exposed('a', [RULE]);
    await scene.db.query("UPDATE rules.rules SET status = 'retired', retired_at = now(), retired_reason = 'wrong'");
    await scene.beat();
    expect((await recomputed()).trial.verdict).toMatchObject({ verdict: 'stopped' });
    await scene.ended('a');
    expect(scene.events).toEqual([]);
  });

  it('does not begin for a candidate that is held', async () => {
    await open();
    await scene.db.query("UPDATE rules.rules SET hold = 'approval'");
    await scene.beat();
    expect(await scene.db.query('SELECT 1 FROM validation.trials')).toEqual([]);
  });

  it('shares its alpha with the other candidates, where a project asks for it', async () => {
    await open({ trial_familywise: true });
    await scene.beat();
    await scene.candidate('r-two');
    await scene.beat();
    const rows = await scene.db.query<{ settings: TrialSettings }>('SELECT settings FROM validation.trials ORDER BY started_at');
    expect(rows.map(({ settings }) => settings.trial_alpha)).toEqual([0.05, 0.025]);
  });
});

describe('a promoted rule under watch', () => {
  const ALLOCATION = 0.5;

  /** Half of the sessions do not see it, so that a test need not be long. */
  async function promoted(patch: Parameters<typeof TrialScene.open>[0] = {}): Promise<void> {
    await open({ ablation_rate: ALLOCATION, ...patch });
    await scene.db.query("UPDATE rules.rules SET status = 'active', promoted_at = now()");
    await scene.beat();
  }

  const watches = () =>
    scene.db.query('SELECT rule, verdict ->> $1 AS verdict FROM validation.trials ORDER BY rule', ['verdict']);
  const treated = (breached: boolean): Promise<void> => goes(scene.sessionIn(RULE, 'treatment'), breached);
  const without = (breached: boolean): Promise<void> => goes(scene.sessionIn(RULE, 'control'), breached);

  it('is hidden from a share of the sessions from its promotion on, and counted anew', async () => {
    await open({ ablation_rate: 0.02 });
    for (let n = 0; n < 12; n += 1) {
      await without(true);
      await treated(false);
    }
    expect(await scene.db.query('SELECT status, allocation FROM rules.rules')).toEqual([{ status: 'active', allocation: 0.98 }]);
    await scene.beat();
    expect(await watches()).toEqual([
      { rule: RULE, verdict: 'promote' },
      { rule: `${RULE}~1`, verdict: null },
    ]);
  });

  it('is not watched where a project wants none', async () => {
    await open({ ablation_rate: 0 });
    for (let n = 0; n < 12; n += 1) {
      await without(true);
      await treated(false);
    }
    expect(await scene.db.query('SELECT allocation FROM rules.rules')).toEqual([{ allocation: 1 }]);
    await scene.beat();
    expect(await watches()).toHaveLength(1);
  });

  it('is watched again when it is found to help', async () => {
    await promoted();
    for (let n = 0; n < 7; n += 1) {
      await without(true);
      await treated(false);
    }
    expect(await watches()).toEqual([
      { rule: `${RULE}~1`, verdict: 'confirmed' },
      { rule: `${RULE}~2`, verdict: null },
    ]);
    expect(await scene.status(RULE)).toBe('active');
    await treated(false);
    expect(await scene.outcomes(`${RULE}~2`)).not.toEqual([]);
  });

  it('is retired when it is found to harm by now', async () => {
    await promoted();
    for (let n = 0; n < 12; n += 1) {
      await treated(true);
      await without(false);
    }
    expect(await scene.status(RULE)).toBe('retired');
    expect(scene.subjects()).toEqual(['fm.default.rule.retired.refunds', 'fm.default.rule.changed']);
  });

  it('stays and is listed as stale when it shows no effect any more', async () => {
    await promoted({ ablation_max_sessions: 4 });
    for (const breached of [true, false]) {
      await treated(breached);
      await without(breached);
    }
    expect(await watches()).toEqual([{ rule: `${RULE}~1`, verdict: 'stale' }]);
    expect(await scene.status(RULE)).toBe('active');
    expect(await scene.db.query(`SELECT rule FROM journal.events WHERE type = 'rule_stale'`)).toEqual([{ rule: RULE }]);
  });

  it('is not watched any more when an operator retires it', async () => {
    await promoted();
    await scene.db.query("UPDATE rules.rules SET status = 'retired', retired_at = now(), retired_reason = 'wrong'");
    await scene.beat();
    expect(await watches()).toEqual([{ rule: `${RULE}~1`, verdict: 'stopped' }]);
  });
});

describe('two workers that get everything twice and in any order', () => {
  it('leave one observation for each session, and a verdict that follows from them', async () => {
    await open({ trial_max_sessions: 40 }, 2);
    const sessions = Array.from({ length: 30 }, (_, n) => `s-${n}`);
    const exposures = sessions.map((session) => scene.exposure(session, [RULE]));
    const reports = [];
    for (const [n, session] of sessions.entries()) {
      for (const t of [0, 1, 2, 3, 4]) reports.push(await scene.plant(session, t, t === 3 && n % 3 === 0 ? BREACH : {}));
    }
    const [shuffled] = fc.sample(fc.shuffledSubarray([...exposures, ...exposures], { minLength: 60, maxLength: 60 }), {
      numRuns: 1,
      seed: 20261130,
    });
    const [told] = fc.sample(fc.shuffledSubarray([...reports, ...reports], { minLength: 300, maxLength: 300 }), {
      ...{ numRuns: 1, seed: 20261130 },
    });
    const batches = async <T>(all: readonly T[], worker: number, take: (batch: T[], worker: number) => Promise<void>) => {
      for (let at = 0; at < all.length; at += 16) await take(all.slice(at, at + 16), worker);
    };
    const half = <T>(all: readonly T[], which: number): T[] => all.filter((_, at) => at % 2 === which);
    await Promise.all(
      [0, 1].flatMap((worker) => [
        batches(half(shuffled ?? [], worker), worker, (batch, by) => scene.expose(batch, by)),
        batches(half(told ?? [], worker), worker, (batch, by) => scene.report(batch, by)),
      ]),
    );
    const { trial, evaluated, observations } = await recomputed();
    expect(observations).toBe(30);
    expect(evaluated.state).toEqual(trial.state);
    const arms = await scene.db.query<{ session: string; arm: string; outcome: number }>(
      'SELECT session, arm, outcome FROM validation.trial_sessions',
    );
    expect(arms.every(({ session, arm }) => arm === scene.arm(RULE, session))).toBe(true);
    expect(arms.filter(({ outcome }) => outcome === 1)).toHaveLength(10);
  });
});
