import { afterEach, describe, expect, it } from '@jest/globals';
import type { ProjectSettingsPatch } from '#contracts';
import { sessionKey } from '#domain/ids';
import { Pipeline } from './pipeline.js';

let pipeline: Pipeline;
const open = async (patch: ProjectSettingsPatch = {}): Promise<Pipeline> => (pipeline = await Pipeline.open(patch));
afterEach(() => pipeline.close());

/** A session that falls from 0.9 to 0.3, with a failing tool: one breach notice. */
async function fails(session: string, more: { error?: string; from?: number } = {}): Promise<void> {
  const { from = 0, error } = more;
  await pipeline.scored(session, from, { completion: 0.9 });
  await pipeline.scored(session, from + 1, { completion: 0.3, tool: 0.1, ...(error === undefined ? {} : { error }) });
  await pipeline.settle();
}
const recovers = async (session: string, turn: number): Promise<void> => {
  await pipeline.scored(session, turn, { completion: 0.95 });
  await pipeline.settle();
};
const notices = () =>
  pipeline.db.query(
    'SELECT session, t, severity, status, signatures, summary, incident_id, episode_id, passage FROM mailbox.notices ORDER BY id',
  );
const posted = () => pipeline.of('.notice.posted.').map(({ subject }) => subject.split('.').slice(-2).join(' '));

describe('a notice', () => {
  it('is posted once with what happened, and the recovery is told once', async () => {
    await open();
    await fails('a');
    await pipeline.scored('a', 2, { completion: 0.3, tool: 0.1 });
    await pipeline.settle();
    await recovers('a', 3);
    expect(posted()).toEqual(['breach a']);
    expect(pipeline.of('.notice.posted.')[0]?.payload).toMatchObject({
      ...{ session_id: 'a', turn_index: 1, severity: 'breach', status: 'pending', flagged_traces: ['a-t1'] },
      signatures: ['breach:tool_correctness', 'regression:task_completion'],
      summary: 'task_completion=0.30 [regression, threshold 0.50]; tool_correctness=0.10 [breach, threshold 0.50]; traces a-t1',
    });
    expect(pipeline.of('.session.recovered.').map(({ payload }) => payload)).toEqual([
      { session_id: 'a', turn_index: 3, signatures: ['breach:tool_correctness', 'regression:task_completion'] },
    ]);
  });
  it('is a trend when only the trajectory alerts', async () => {
    await open();
    await pipeline.scored('a', 0, { completion: 0.9 });
    await pipeline.scored('a', 1, { completion: 0.3, tool: 0.9 });
    await pipeline.settle();
    expect(await notices()).toMatchObject([{ severity: 'trend', signatures: ['regression:task_completion'] }]);
  });
  it('changes nothing when its report comes again, in whatever order', async () => {
    await open();
    await fails('a');
    const before = await notices();
    for (const event of [...pipeline.of('.turn.evaluated')].reverse()) await pipeline.give(event);
    expect(await notices()).toEqual(before);
    expect(posted()).toHaveLength(1);
  });
  it('waits while an earlier turn is still being judged, so that nothing is taken back a moment later', async () => {
    await open({ gate_window: 1 });
    const tierTwo = ({ subject }: { subject: string }): boolean => subject.endsWith('.tier.requested');
    await pipeline.scored('a', 0, { completion: 0.2 });
    await pipeline.scored('a', 1, { completion: 0.2, tool: 0.1 });
    await pipeline.scored('a', 2, { completion: null });
    await pipeline.scored('a', 3, { completion: 0.21, tool: 0.1 });
    await pipeline.settle(tierTwo);
    expect(await notices()).toEqual([]);
    await pipeline.settle();
    expect(await notices()).toMatchObject([{ t: 1, status: 'pending', severity: 'breach' }]);
    expect(pipeline.of('.notice.resolved.')).toEqual([]);
  });
  it('is corrected by a late turn that explains it away, and stands again when another one brings it back', async () => {
    await open();
    await pipeline.scored('a', 1, { completion: 0.9 });
    await pipeline.scored('a', 3, { completion: 0.7, tool: 0.9 });
    await pipeline.settle();
    expect(await notices()).toMatchObject([{ t: 3, status: 'pending' }]);
    // A first answer that is corrected: the peak was never 0.9.
    await pipeline.scored('a', 1, { completion: 0.8, answer: 2 });
    await pipeline.settle();
    expect(await notices()).toMatchObject([{ t: 3, status: 'corrected', episode_id: null }]);
    expect(pipeline.of('.notice.resolved.corrected.')).toHaveLength(1);
    expect(await pipeline.db.query('SELECT status FROM mailbox.episodes')).toEqual([{ status: 'void' }]);
    await pipeline.scored('a', 1, { completion: 0.9, answer: 3 });
    await pipeline.settle();
    expect(await notices()).toMatchObject([{ t: 3, status: 'pending' }]);
    expect(posted()).toHaveLength(1);
    expect(await pipeline.db.query(`SELECT status FROM mailbox.episodes WHERE status = 'open'`)).toHaveLength(1);
  });
});

describe('what comes late', () => {
  const resolved = () => pipeline.of('.notice.resolved.').map(({ payload }) => payload['turn_index']);
  const episodes = () => pipeline.db.query('SELECT session, status, attempt FROM mailbox.episodes ORDER BY opened_at, id');
  const incidents = () => pipeline.db.query('SELECT status FROM mailbox.incidents ORDER BY opened_at, id');
  const asked = () =>
    pipeline.of('.episode.opened').map(({ payload }) => `${String(payload['session_id'])}:${String(payload['attempt'])}`);

  it('takes nothing back while a turn is judged again on its account', async () => {
    await open();
    for (const [turn, completion] of [
      [0, 0.9],
      [5, 0.85],
      [9, 0.3],
    ] as const)
      await pipeline.scored('a', turn, { completion, tool: 0.9 });
    await pipeline.settle();
    expect(posted()).toEqual(['trend a']);
    const tierTwo = ({ subject }: { subject: string }): boolean => subject.endsWith('.tier.requested');
    await pipeline.scored('a', 3, { completion: 1.05 });
    await pipeline.settle(tierTwo);
    expect(await notices()).toMatchObject([{ t: 9, status: 'pending' }]);
    await pipeline.settle();
    expect(resolved()).toEqual([9]);
    expect((await notices()).map(({ t, status }) => [t, status])).toEqual([
      [9, 'corrected'],
      [5, 'pending'],
    ]);
  });
  it('opens a repair again when what it had explained away stands again', async () => {
    await open();
    await pipeline.scored('a', 1, { completion: 0.9 });
    await pipeline.scored('a', 3, { completion: 0.7, tool: 0.9, error: 'no order 1' });
    await pipeline.settle();
    for (const [answer, completion] of [
      [2, 0.8],
      [3, 0.9],
    ] as const) {
      await pipeline.scored('a', 1, { completion, answer });
      await pipeline.settle();
    }
    expect(await episodes()).toEqual([{ session: 'a', status: 'open', attempt: 2 }]);
    expect(await incidents()).toEqual([{ status: 'open' }]);
    expect(asked()).toEqual(['a:1', 'a:2']);
  });
  it('hands the repair on when the session that asked for it is explained away', async () => {
    await open();
    for (const session of ['a', 'b']) {
      await pipeline.scored(session, 1, { completion: 0.9 });
      await pipeline.scored(session, 3, { completion: 0.7, tool: 0.9, error: 'no order 1' });
      await pipeline.settle();
    }
    expect(asked()).toEqual(['a:1']);
    await pipeline.scored('a', 1, { completion: 0.8, answer: 2 });
    await pipeline.settle();
    expect(asked()).toEqual(['a:1', 'b:1']);
    expect(await incidents()).toEqual([{ status: 'open' }]);
    await pipeline.scored('b', 1, { completion: 0.8, answer: 2 });
    await pipeline.settle();
    expect(await incidents()).toEqual([{ status: 'closed' }]);
  });
  it('goes over to the incident that its fault has by now', async () => {
    await open();
    const fallsBack = async (session: string): Promise<void> => {
      await pipeline.scored(session, 1, { completion: 0.9 });
      await pipeline.scored(session, 3, { completion: 0.7, tool: 0.9, error: 'no order 1' });
      await pipeline.settle();
    };
    await fallsBack('a');
    await pipeline.scored('a', 1, { completion: 0.8, answer: 2 });
    await pipeline.settle();
    await fallsBack('b');
    await pipeline.scored('a', 1, { completion: 0.9, answer: 3 });
    await pipeline.settle();
    expect(await incidents()).toEqual([{ status: 'closed' }, { status: 'open' }]);
    expect(await pipeline.db.query('SELECT count(DISTINCT incident_id)::int AS n FROM mailbox.notices')).toEqual([{ n: 1 }]);
    expect(asked()).toEqual(['a:1', 'b:1']);
  });
  it('reaches a turn whose report is too far behind to be published again', async () => {
    await open({ revise_window_turns: 5 });
    for (let turn = 0; turn < 20; turn += 1) await pipeline.scored('a', turn, { completion: 0.9 });
    await pipeline.settle();
    await pipeline.outcome('a', 3, 0);
    await pipeline.settle();
    expect(await notices()).toMatchObject([{ t: 3, signatures: ['breach:outcome_correct'], status: 'pending' }]);
    await pipeline.outcome('a', 3, 1, 2);
    await pipeline.settle();
    expect(await notices()).toMatchObject([{ t: 3, status: 'corrected' }]);
    expect(resolved()).toEqual([]);
  });
});

describe('a recovery', () => {
  it('is told, and closes the breaker, however many healthy turns come with it', async () => {
    await open({ circuit_breaker_max_notices: 1 });
    await fails('a');
    await fails('b');
    for (const turn of [2, 3, 4]) await pipeline.scored('a', turn, { completion: 0.95 });
    await pipeline.together('turn.evaluated');
    expect(pipeline.of('.session.recovered.').map(({ payload }) => payload['turn_index'])).toEqual([2]);
    expect(pipeline.of('.breaker.closed')).toHaveLength(1);
  });
});

describe('the breaker', () => {
  it('opens after the maximum with one needs_human, suppresses, and closes by the recovery of a counted session', async () => {
    await open({ circuit_breaker_max_notices: 2 });
    for (const session of ['a', 'b', 'c', 'd']) await fails(session);
    expect((await notices()).map(({ session, severity, status, passage }) => [session, severity, status, passage])).toEqual([
      ['a', 'breach', 'pending', 'post'],
      ['b', 'breach', 'pending', 'post'],
      ['c', 'needs_human', 'pending', 'needs_human'],
      ['d', 'breach', 'suppressed', 'suppress'],
    ]);
    expect((await notices())[2]?.['summary']).toMatch(/^2 new problems within 600 s/);
    expect(posted()).toEqual(['breach a', 'breach b', 'needs_human c']);
    expect(pipeline.of('.breaker.opened')).toHaveLength(1);
    await recovers('d', 5);
    await recovers('c', 5);
    expect(pipeline.of('.breaker.closed')).toHaveLength(0);
    await recovers('a', 5);
    expect(pipeline.of('.breaker.closed')).toHaveLength(1);
    await fails('e');
    expect(posted()).toHaveLength(4);
  });
  it('lets through what joins an open incident, and counts it once for the whole fleet', async () => {
    await open({ circuit_breaker_max_notices: 1 });
    for (const session of ['a', 'b', 'c']) await fails(session, { error: 'no order 17' });
    await fails('d', { error: 'something else' });
    await fails('e', { error: 'no order 99' });
    expect(posted()).toEqual(['breach a', 'breach b', 'breach c', 'needs_human d', 'breach e']);
    expect(await pipeline.db.query('SELECT count(*)::int AS n FROM mailbox.incidents')).toEqual([{ n: 1 }]);
    expect(pipeline.of('.episode.opened')).toHaveLength(1);
  });
  it('keeps a suppressed fault suppressed for the next session, and opens its incident when it gets out', async () => {
    await open({ circuit_breaker_max_notices: 1 });
    await fails('a', { error: 'first' });
    await fails('b', { error: 'second' });
    await fails('c', { error: 'third' });
    await fails('d', { error: 'third' });
    expect((await notices()).map(({ passage }) => passage)).toEqual(['post', 'needs_human', 'suppress', 'suppress']);
    expect(await pipeline.db.query('SELECT status FROM mailbox.incidents ORDER BY opened_at')).toEqual([
      { status: 'open' },
      { status: 'suppressed' },
    ]);
    await recovers('a', 5);
    await fails('e', { error: 'third' });
    expect(await pipeline.db.query(`SELECT count(*)::int AS n FROM mailbox.incidents WHERE status = 'open'`)).toEqual([{ n: 2 }]);
    expect(pipeline.of('.episode.opened')).toHaveLength(2);
  });
});

describe('shadow mode', () => {
  it('evaluates and journals everything and posts nothing', async () => {
    await open({ observe_only: true, circuit_breaker_max_notices: 1, capture_eval_cases: true });
    for (const session of ['a', 'b']) await fails(session);
    await recovers('a', 5);
    expect((await notices()).map(({ status, incident_id, episode_id }) => [status, incident_id, episode_id])).toEqual(
      Array(2).fill(['shadow', null, null]),
    );
    expect(pipeline.events.filter(({ subject }) => /notice|recovered|episode|breaker/.test(subject))).toEqual([]);
    expect(
      await pipeline.db.query('SELECT type FROM journal.events WHERE type IN ($1, $2) ORDER BY type', [
        'notice_shadow',
        'recovery',
      ]),
    ).toHaveLength(3);
    expect(await pipeline.db.query('SELECT 1 FROM evalset.cases')).toEqual([]);
  });
});

describe('eval cases', () => {
  it('are captured with their notice when switched on, for breaches only, once per session and signatures', async () => {
    await open({ capture_eval_cases: true });
    await fails('a');
    await recovers('a', 2);
    await fails('a', { from: 3 });
    await pipeline.scored('b', 0, { completion: 0.9 });
    await pipeline.scored('b', 1, { completion: 0.3, tool: 0.9 });
    await pipeline.settle();
    expect(posted()).toEqual(['breach a', 'breach a', 'trend b']);
    expect(await pipeline.db.query('SELECT session, kind, signatures, baseline, replay_input FROM evalset.cases')).toEqual([
      {
        session: 'a',
        kind: 'failure',
        signatures: ['breach:tool_correctness', 'regression:task_completion'],
        baseline: { task_completion: 0.3, tool_correctness: 0.1 },
        replay_input: null,
      },
    ]);
  });
  it('have the end state of their turn as replay input, unless it says nothing, and each changes the version of the set', async () => {
    await open({ capture_eval_cases: true, circuit_breaker_max_notices: 0 });
    for (const [session, endState] of [
      ['empty', {}],
      ['told', { order: 7 }],
    ] as const) {
      await pipeline.db.query(
        `INSERT INTO scoring.turns (s, t, project, accepted_us, body_sha, config, end_state) SELECT $1, t, 'default', 0, '', 'test-config', $2 FROM generate_series(0, 9) t`,
        [sessionKey('default', session), endState],
      );
      await fails(session);
    }
    expect(await pipeline.db.query('SELECT session, replay_input FROM evalset.cases ORDER BY created_at')).toEqual([
      { session: 'empty', replay_input: null },
      { session: 'told', replay_input: { order: 7 } },
    ]);
    await fails('told', { from: 3 });
    expect(await pipeline.db.query('SELECT project, version FROM evalset.versions')).toEqual([
      { project: 'default', version: 2 },
    ]);
  });
  it('finds no room in a set that wins alone fill: it is refused, and the journal says so once', async () => {
    await open({ capture_eval_cases: true, eval_case_max: 2, circuit_breaker_max_notices: 0 });
    await pipeline.db.query(
      `INSERT INTO evalset.cases (id, project, s, session, kind, signatures, baseline, notes)
       SELECT 'w' || n, 'default', gen_random_uuid(), 'w', 'win', '{}', '{}', '' FROM generate_series(1, 2) n`,
    );
    await fails('a');
    expect(await pipeline.db.query('SELECT kind FROM evalset.cases')).toEqual([{ kind: 'win' }, { kind: 'win' }]);
    expect(await pipeline.db.query(`SELECT type, session FROM journal.events WHERE type LIKE 'eval_case_%'`)).toEqual([
      { type: 'eval_case_refused', session: 'a' },
    ]);
    await pipeline.db.query(`DELETE FROM evalset.cases WHERE id = 'w1'`);
    await fails('b');
    expect(await pipeline.db.query(`SELECT session FROM evalset.cases WHERE kind = 'failure'`)).toEqual([{ session: 'b' }]);
  });
  it('give way at the maximum, the oldest failure first', async () => {
    await open({ capture_eval_cases: true, eval_case_max: 2, circuit_breaker_max_notices: 0 });
    for (const session of ['a', 'b', 'c']) await fails(session);
    expect((await pipeline.db.query('SELECT session FROM evalset.cases ORDER BY session')).map(({ session }) => session)).toEqual(
      ['b', 'c'],
    );
    expect(await pipeline.db.query(`SELECT 1 FROM journal.events WHERE type = 'eval_case_evicted'`)).toHaveLength(1);
  });
});
