import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { after, eventually, hang, type ModelRequest, type Reply } from '#testing';
import { sessionKey } from '#domain/ids';
import { ack, add, episodeOf, RepairScene, resolve, RULE, ruleOf, speaking, type Worker } from './repair-scene.js';

let scene: RepairScene;
beforeAll(async () => {
  // Workers that lose their lease say so.
  Logger.overrideLogger(false);
  scene = await RepairScene.open();
});
beforeEach(() => scene.reset());
afterAll(() => scene.close());

const first = (of: { notices: readonly string[] }): string => of.notices[0] ?? '';
const FAULT = '["breach:tool_correctness",["pay"],["bill # is paid already"]]';

async function workers(count: number): Promise<Worker[]> {
  return Promise.all(Array.from({ length: count }, () => scene.worker()));
}

/** All workers take what they can, at the same time, until nothing is left. */
async function takeAll(desks: readonly Worker[]): Promise<number> {
  const taken = await Promise.all(
    desks.map(async ({ desk }) => {
      let count = 0;
      while (await desk.takeOne()) count += 1;
      return count;
    }),
  );
  await Promise.all(desks.map(({ desk }) => desk.ended()));
  return taken.reduce((sum, count) => sum + count, 0);
}

/** Ends the lease of whoever runs, as time would. */
const expire = (): Promise<unknown> =>
  scene.query(`UPDATE repair.work SET leased_until = now() - interval '1 second' WHERE state = 'running'`);

describe('several workers', () => {
  it('repair each episode once, at most one at a time per incident', async () => {
    const planted = await Promise.all(Array.from({ length: 12 }, () => scene.plant()));
    const notices = new Map(planted.map((one) => [one.episode, first(one)]));
    scene.models.script((request: ModelRequest): Reply =>
      after(20, speaking([resolve(notices.get(episodeOf(request)) ?? '', 'unactionable')])),
    );
    expect(await takeAll(await workers(4))).toBe(12);
    expect(
      scene
        .results()
        .map(({ episode_id: id }) => id)
        .sort(),
    ).toEqual([...notices.keys()].sort());
    expect(scene.models.requests).toHaveLength(12);
    expect(new Set((await scene.work()).map(({ state }) => state))).toEqual(new Set(['done']));
  });
  it('never store the same rule twice, however they meet', async () => {
    const planted = await Promise.all(Array.from({ length: 6 }, () => scene.plant()));
    const of = new Map(planted.map((one) => [one.episode, one]));
    scene.models.script((request: ModelRequest): Reply => {
      const one = of.get(episodeOf(request));
      const answers = (request.body['messages'] as { role: string; content: string }[]).filter(({ role }) => role === 'tool');
      const said = JSON.parse(answers.at(-1)?.content ?? '{}') as { created?: boolean; existing_rule_id?: string };
      if (one === undefined) throw new Error('of no episode');
      if (said.created === undefined) return speaking([add()]);
      if (said.created) return speaking([ack(first(one), ruleOf(one))]);
      return speaking([resolve(first(one), 'already_covered', { existing_rule_id: said.existing_rule_id })]);
    });
    await takeAll(await workers(3));
    expect(await scene.rules()).toHaveLength(1);
    expect(
      scene
        .results()
        .map(({ status }) => status)
        .sort(),
    ).toEqual([...Array<string>(5).fill('already_covered'), 'candidate_added']);
  });
  it('let 40 sessions with one fault cost one run; the others take its end', async () => {
    const planted = await Promise.all(Array.from({ length: 1 }, () => scene.plant({ fingerprint: FAULT })));
    for (let at = 0; at < 39; at += 1) planted.push(await scene.plant({ fingerprint: FAULT }));
    const [opener] = planted;
    if (opener === undefined) throw new Error('none');
    scene.says([add()], [ack(first(opener), ruleOf(opener), { note: 'check first' })]);
    expect(await takeAll(await workers(3))).toBe(1);
    const [own, ...others] = scene.results();
    expect(own).toMatchObject({ episode_id: opener.episode, status: 'candidate_added', run: 1, decided_by: null });
    expect(others).toHaveLength(39);
    expect(others[0]).toMatchObject({
      ...{
        status: 'already_covered',
        run: 0,
        decided_by: opener.episode,
        existing_rule_id: ruleOf(opener),
        candidate_rule_id: null,
      },
      ...{ model: null, turns: 0, note: 'check first' },
    });
    expect(scene.of('notice.resolved.already_covered')).toHaveLength(39);
    expect(new Set(Object.values(await scene.notices()))).toEqual(new Set(['acknowledged']));
    expect(await scene.query('SELECT status, rule_id FROM mailbox.incidents')).toEqual([
      { status: 'covered', rule_id: ruleOf(opener) },
    ]);
  });
  it('leave attached episodes pending when the run comes to nothing', async () => {
    await scene.plant({ fingerprint: FAULT });
    await scene.plant({ fingerprint: FAULT });
    scene.says([], []);
    expect(await scene.run()).toMatchObject({ status: 'failed' });
    expect(Object.values(await scene.notices())).toEqual(['pending', 'pending']);
    expect(scene.results()).toHaveLength(1);
  });
});

describe('an incident that was repaired', () => {
  const recur = async (): Promise<{ episode: string; session: string }> => {
    const planted = await scene.plant({ fingerprint: FAULT });
    await scene.enqueue(planted.episode);
    return planted;
  };
  const covered = async (): Promise<string> => {
    const opener = await scene.plant({ fingerprint: FAULT });
    scene.says([add(), ack(first(opener), ruleOf(opener))]);
    await scene.run();
    return ruleOf(opener);
  };
  const show = (session: string, rule: string): Promise<unknown> =>
    scene.query(
      `INSERT INTO validation.exposures (s, read_id, project, session, kind, version, rule_ids, withheld_ids, at_us, stored_us)
       VALUES ($1, 'read', 'default', $2, 'read', 1, $3, '{}', 1, 1)`,
      [sessionKey('default', session), session, [rule]],
    );

  it('ends what recurs as already_covered without a model while its rule is on trial', async () => {
    const rule = await covered();
    await recur();
    expect(await scene.run()).toMatchObject({ status: 'already_covered', existing_rule_id: rule, model: null, turns: 0, run: 1 });
    expect(scene.models.requests).toHaveLength(1);
  });
  it('ends it as duplicate without a model where the proven rule was not shown, and asks where it was shown and did not help', async () => {
    const rule = await covered();
    await scene.query(`UPDATE rules.rules SET status = 'active'`);
    await recur();
    expect(await scene.run()).toMatchObject({ status: 'duplicate', existing_rule_id: rule, model: null });
    const shown = await recur();
    await show(shown.session, rule);
    scene.says([['harness_notice_resolve', { notice_id: await newest(), resolution: 'unactionable', note: 'x' }]]);
    expect(await scene.run()).toMatchObject({ status: 'unactionable', model: 'our-own' });
  });
  it.each(['retired', 'withdrawn'])('is repaired anew when its rule is %s', async (state) => {
    await covered();
    await scene.query(
      state === 'retired' ? `UPDATE rules.rules SET status = 'retired'` : 'UPDATE rules.rules SET withdrawn_at = now()',
    );
    await recur();
    scene.says([['harness_notice_resolve', { notice_id: await newest(), resolution: 'unactionable', note: 'x' }]]);
    expect(await scene.run()).toMatchObject({ status: 'unactionable', model: 'our-own' });
  });

  async function newest(): Promise<string> {
    return Object.keys(await scene.notices()).at(-1) ?? '';
  }
});

describe('a worker that dies', () => {
  it('loses its episode to another one when its lease is over, and can do nothing more about it', async () => {
    const planted = await scene.plant();
    const [dead, heir] = await workers(2);
    if (dead === undefined || heir === undefined) throw new Error('no workers');
    scene.says([add()], hang());
    await dead.desk.takeOne();
    await eventually(() => scene.models.requests.length === 2);
    expect(await heir.desk.takeOne()).toBe(false);
    await expire();
    expect(await scene.run(heir)).toMatchObject({
      status: 'candidate_added',
      run: 2,
      model: null,
      candidate_rule_id: ruleOf(planted),
    });
    await dead.desk.stop();
    expect(scene.results()).toHaveLength(1);
    expect(await scene.query('SELECT run, status FROM repair.runs ORDER BY run')).toEqual([
      { run: 1, status: 'failed' },
      { run: 2, status: 'candidate_added' },
    ]);
    expect(scene.models.requests).toHaveLength(2);
  });
  it('having written nothing, is followed by a run that asks anew', async () => {
    const planted = await scene.plant();
    const [dead, heir] = await workers(2);
    if (dead === undefined || heir === undefined) throw new Error('no workers');
    scene.says(hang(), [resolve(first(planted), 'unactionable')]);
    await dead.desk.takeOne();
    await eventually(() => scene.models.requests.length === 1);
    await expire();
    expect(await scene.run(heir)).toMatchObject({ status: 'unactionable', run: 2 });
    const ends = await scene.query<{ type: string; doc: object }>(
      `SELECT type, doc FROM journal.events WHERE type = 'repair_failed'`,
    );
    expect(ends).toMatchObject([{ doc: { run: 1, error_category: 'crashed' } }]);
  });
});

describe('what a project lets its repairs cost', () => {
  it('is held exactly by the hour, by any number of workers, and says so', async () => {
    await scene.configure({ repair_model: 'our-own', max_repairs_per_hour: 3 });
    const planted = await Promise.all(Array.from({ length: 8 }, () => scene.plant()));
    const notices = new Map(planted.map((one) => [one.episode, first(one)]));
    scene.models.script((request) => speaking([resolve(notices.get(episodeOf(request)) ?? '', 'unactionable')]));
    expect(await takeAll(await workers(4))).toBe(3);
    const left = (await scene.work()).filter(({ state }) => state === 'waiting');
    expect(left.map(({ waits_for: why }) => why)).toEqual(Array(5).fill('hourly_limit'));
    await scene.query(
      `UPDATE repair.runs SET started_at = started_at - interval '2 hours' WHERE run = 1 AND episode = (SELECT min(episode) FROM repair.runs)`,
    );
    expect(await takeAll(await workers(2))).toBe(1);
  });
  it('by the hour holds for episodes that failed and are due again', async () => {
    await scene.configure({ repair_model: 'our-own', max_repairs_per_hour: 1 });
    await scene.plant();
    scene.says([], []);
    await scene.run();
    await scene.later();
    await expect(scene.run()).rejects.toThrow('hourly_limit');
  });
  it('in a day holds back what runs in progress may cost', async () => {
    await scene.configure({ repair_model: 'gpt-4.1', max_cost_usd: 0.4, repair_max_turns: 6 });
    // A run may cost 6 * 12,000 tokens in and 4,096 out: 0.177 dollars. Two fit.
    for (let at = 0; at < 3; at += 1) await scene.plant();
    scene.models.script(() => hang());
    const worker = await scene.worker();
    expect([await worker.desk.takeOne(), await worker.desk.takeOne(), await worker.desk.takeOne()]).toEqual([true, true, false]);
    expect((await scene.work()).flatMap(({ waits_for: why }) => why ?? [])).toEqual(['cost_limit']);
    await worker.desk.stop();
  });
  it('in a day counts what judges have spent', async () => {
    await scene.configure({ repair_model: 'gpt-4.1', max_cost_usd: 1 });
    await scene.query(
      `INSERT INTO scoring.spend (project, day, cost_usd) VALUES ('default', (now() AT TIME ZONE 'utc')::date, 0.9)`,
    );
    await scene.plant();
    await expect(scene.run()).rejects.toThrow('cost_limit');
  });
  it.each([
    ['without a model waits for one', { repair_model: null }, 'model'],
    ['with a model that has no price under a limit waits for another', { repair_model: 'our-own', max_cost_usd: 1 }, 'model'],
    ['in shadow mode waits for its end', { repair_model: 'our-own', observe_only: true }, 'observe_only'],
  ])('%s, visibly', async (_, settings, why) => {
    await scene.configure(settings);
    await scene.plant();
    await expect(scene.run()).rejects.toThrow('nothing could be taken');
    expect(await scene.work()).toMatchObject([{ state: 'waiting', waits_for: why, runs: 0 }]);
  });
});

describe('notices that change while a run works on them', () => {
  it('are not acknowledged: what is left of the episode is looked at anew', async () => {
    const planted = await scene.plant({ notices: [{}, {}] });
    const [gone = '', kept = ''] = planted.notices;
    scene.models.script(async () => {
      await scene.query(`UPDATE mailbox.notices SET status = 'corrected' WHERE id = $1`, [gone]);
      return speaking([resolve(kept, 'no_proposal')]);
    });
    expect(await scene.run()).toMatchObject({ status: 'cancelled', error_category: 'notices_changed' });
    expect(await scene.notices()).toEqual({ [gone]: 'corrected', [kept]: 'pending' });
    expect(await scene.run()).toMatchObject({ status: 'no_proposal', notice_ids: [kept], run: 2 });
    expect(await scene.notices()).toEqual({ [gone]: 'corrected', [kept]: 'acknowledged' });
  });
  it('and are all corrected leave nothing to repair', async () => {
    await scene.plant();
    await scene.query(`UPDATE mailbox.notices SET status = 'corrected'`);
    await expect(scene.run()).rejects.toThrow('nothing could be taken');
    expect(await scene.query('SELECT status FROM mailbox.episodes')).toEqual([{ status: 'void' }]);
    expect(scene.models.requests).toEqual([]);
  });
});

describe('a rule that is added', () => {
  it('raises the version of the project by one, in order, and tells it without its text', async () => {
    await scene.rule('r-before');
    await scene.repaired({}, (planted) => [[add(), ack(first(planted), ruleOf(planted))]]);
    expect(scene.of('rule.changed')[0]?.payload).toEqual({ version: 2 });
    expect(await scene.query('SELECT version FROM rules.versions')).toEqual([{ version: 2 }]);
    expect(JSON.stringify(scene.of('rule.'))).not.toContain(RULE.rule.slice(0, 20));
    expect(await scene.query(`SELECT rule FROM journal.events WHERE type = 'repair_candidate_added'`)).toEqual([
      { rule: (await scene.rules())[1]?.['id'] },
    ]);
  });
});
