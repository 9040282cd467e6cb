import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openGateway, type Fixture } from './fixture.js';
import { at, insertEpisode, insertEvent, insertNotice, insertSession, insertTurn } from './rows.js';

let fixture: Fixture;
const get = async (path: string) => {
  const { status, body } = await fixture.call('GET', path);
  return { status, body };
};

beforeAll(async () => {
  fixture = await openGateway();
  const { db } = fixture;
  for (let n = 0; n < 5; n += 1) await insertSession(db, `plain-${n}`, { second: 10, agent: n < 2 ? 'a-1' : 'a-2' });
  await insertSession(db, 'troubled', {
    second: 20,
    standing: ['stall:coherence', 'breach:x'],
    peaks: { 'coherence@lexical': 0.8 },
  });
  for (let t = 0; t < 4; t += 1)
    await insertTurn(db, 'troubled', t, { value: 0.5 + t / 10, fired: t === 3 ? ['stall:coherence'] : [] });
  await insertNotice(db, 'n-000000000001-a', { session: 'troubled', t: 3, severity: 'trend', second: 1 });
  await insertNotice(db, 'n-000000000002-b', { status: 'suppressed', second: 2 });
  await insertNotice(db, 'n-000000000003-c', { t: 1, second: 3 });
  await insertEpisode(db, 'e-1', 1, ['n-000000000001-a', 'n-000000000003-c']);
  await insertEpisode(db, 'e-2', 2, ['n-000000000002-b']);
  await insertEvent(db, 'j-1', { type: 'notice_posted', second: 1, session: 'troubled' });
  await insertEvent(db, 'j-2', { type: 'health_changed', second: 2 });
  await insertEvent(db, 'j-3', { type: 'notice_posted', second: 3 });
  await db.query("INSERT INTO edge.projects (project) VALUES ('other')");
  await insertSession(db, 'foreign', { project: 'other' });
  await insertNotice(db, 'n-000000000009-z', { project: 'other' });
}, 60_000);

afterAll(async () => {
  await fixture.close();
}, 30_000);

/** Follows the cursor to the end and gives what `pick` takes of every item. */
async function walk(path: string, pick: (item: Record<string, unknown>) => unknown): Promise<unknown[]> {
  const seen: unknown[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body } = await get(`${path}${path.includes('?') ? '&' : '?'}limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
    seen.push(...body.items.map(pick));
    cursor = body.next_cursor;
  }
  return seen;
}

describe('GET /v1/sessions', () => {
  it('lists every session of the project once, newest first, page by page', async () => {
    const names = await walk('/v1/sessions', ({ session_id }) => session_id);
    expect(names[0]).toBe('troubled');
    expect([...names].sort()).toEqual(['plain-0', 'plain-1', 'plain-2', 'plain-3', 'plain-4', 'troubled']);
  });

  it('tells where each stands', async () => {
    const { body } = await get('/v1/sessions?limit=1');
    expect(body.items[0]).toEqual({
      session_id: 'troubled',
      agent: null,
      first_at: at(20),
      last_turn_index: 3,
      last_accepted_at: at(3),
      alerting: true,
      standing: ['breach:x', 'stall:coherence'],
    });
  });

  it('filters by agent, by alert and by the beginning of the id', async () => {
    expect(await walk('/v1/sessions?agent=a-1', ({ session_id }) => session_id)).toHaveLength(2);
    expect(await walk('/v1/sessions?alerting=true', ({ session_id }) => session_id)).toEqual(['troubled']);
    expect(await walk('/v1/sessions?alerting=false', ({ session_id }) => session_id)).toHaveLength(5);
    expect(await walk('/v1/sessions?q=plain', ({ session_id }) => session_id)).toHaveLength(5);
    expect(await walk('/v1/sessions?q=%25', ({ session_id }) => session_id)).toEqual([]);
    expect(await walk('/v1/sessions?q=a%00b', ({ session_id }) => session_id)).toEqual([]);
  });
});

describe('GET /v1/sessions/{id}', () => {
  it('is the trajectory: turns, scores, series with peak, notices', async () => {
    const { status, body } = await get('/v1/sessions/troubled');
    expect(status).toBe(200);
    expect(body.turns.map(({ turn_index }) => turn_index)).toEqual([0, 1, 2, 3]);
    expect(body.turns[3]).toMatchObject({
      accepted_at: at(3),
      model: 'm-1',
      revision: 1,
      fired: ['stall:coherence'],
      waiting: false,
    });
    expect(body.turns[3]?.scores).toEqual([
      expect.objectContaining({ metric: 'outcome_correct', tier: 0, trace_id: null, status: 'pending', value: null }),
      expect.objectContaining({
        metric: 'coherence',
        tier: 1,
        trace_id: 'trace-1',
        source: 'lexical',
        value: 0.8,
        reason: 'because',
        spans: [],
      }),
    ]);
    expect(body.series).toEqual([
      {
        metric: 'coherence',
        source: 'lexical',
        peak: 0.8,
        points: [0.5, 0.6, 0.7, 0.8].map((value, turn_index) => ({ turn_index, trace_id: 'trace-1', value })),
      },
    ]);
    expect(body.notices.map(({ id }) => id)).toEqual(['n-000000000001-a']);
    expect(body.next_before).toBeNull();
  });

  it('goes back in pages', async () => {
    const { body } = await get('/v1/sessions/troubled?limit=3');
    expect([body.turns[0]?.turn_index, body.next_before]).toEqual([1, 1]);
    const older = (await get('/v1/sessions/troubled?limit=3&before=1')).body;
    expect([older.turns.length, older.next_before]).toEqual([1, null]);
  });

  it('tells the place of each turn in the session, whatever the page and the indices', async () => {
    const { db } = fixture;
    await insertSession(db, 'timed');
    for (const t of [7, 1_000_000_001, 1_000_000_009, 1_000_000_010]) await insertTurn(db, 'timed', t, { value: 1 });
    const ordinals = async (query: string) =>
      (await get(`/v1/sessions/timed${query}`)).body.turns.map(({ ordinal, turn_index: t }) => [ordinal, t % 1_000]);
    expect(await ordinals('')).toEqual([
      [1, 7],
      [2, 1],
      [3, 9],
      [4, 10],
    ]);
    expect(await ordinals('?limit=2')).toEqual([
      [3, 9],
      [4, 10],
    ]);
    expect(await ordinals('?limit=2&before=1000000009')).toEqual([
      [1, 7],
      [2, 1],
    ]);
    expect(await ordinals('?before=7')).toEqual([]);
  });

  it('warns of turns that were sent beside turns that were made of root spans', async () => {
    const { db } = fixture;
    await insertSession(db, 'mixed');
    await db.query("UPDATE scoring.sessions SET root_turns = true WHERE session = 'mixed'");
    expect((await get('/v1/sessions/mixed')).body.warnings).toEqual([]);
    await db.query("UPDATE scoring.sessions SET sent_turns = true WHERE session = 'mixed'");
    expect((await get('/v1/sessions/mixed')).body.warnings).toEqual([
      { code: 'mixed_turns', message: expect.stringContaining('otlp_turns') },
    ]);
  });

  it('knows no session of another project, and says what to do', async () => {
    expect(await get('/v1/sessions/foreign')).toMatchObject({
      status: 404,
      body: { detail: expect.stringContaining('scoring') },
    });
  });
});

describe('GET /v1/notices', () => {
  const ids = (query: string) => walk(`/v1/notices${query}`, ({ id }) => id);

  it('lists notices, suppressed ones too, newest first', async () => {
    expect(await ids('')).toEqual(['n-000000000003-c', 'n-000000000002-b', 'n-000000000001-a']);
  });

  it('filters by session, severity, status and time', async () => {
    expect(await ids('?session=troubled')).toEqual(['n-000000000001-a']);
    expect(await ids('?severity=trend')).toEqual(['n-000000000001-a']);
    expect(await ids('?status=suppressed')).toEqual(['n-000000000002-b']);
    expect(await ids(`?since=${at(2)}`)).toEqual(['n-000000000003-c', 'n-000000000002-b']);
    expect(await ids(`?since=${new Date(at(3) / 1000).toISOString()}`)).toEqual(['n-000000000003-c']);
  });

  it('gives the notice as it was posted', async () => {
    const { body } = await get('/v1/notices?limit=1');
    expect(body.items[0]).toMatchObject({
      session_id: 'noticed',
      turn_index: 1,
      posted_at: at(3),
      resolution: null,
      flagged_traces: ['trace-1'],
    });
  });
});

it('GET /v1/episodes and /v1/incidents list what was opened', async () => {
  expect(await walk('/v1/episodes', ({ id }) => id)).toEqual(['e-2', 'e-1']);
  expect(await walk('/v1/episodes?incident=i-e-1', ({ notice_ids }) => notice_ids)).toEqual([
    ['n-000000000001-a', 'n-000000000003-c'],
  ]);
  expect(await walk('/v1/incidents?status=open', ({ id, episodes, notices }) => [id, episodes, notices])).toEqual([
    ['i-e-2', 1, 1],
    ['i-e-1', 1, 2],
  ]);
});

it('GET /v1/journal lists events by type, session and time', async () => {
  const ids = (query: string) => walk(`/v1/journal${query}`, ({ id }) => id);
  expect(await ids('')).toEqual(['j-3', 'j-2', 'j-1']);
  expect(await ids('?type=notice_posted')).toEqual(['j-3', 'j-1']);
  expect(await ids('?session=troubled')).toEqual(['j-1']);
  expect(await ids(`?since=${at(2)}&until=${at(3)}`)).toEqual(['j-2']);
});

describe('a wrong question', () => {
  it.each([
    ['/v1/sessions?limit=0', 'query.limit'],
    ['/v1/sessions?limit=many', 'query.limit'],
    ['/v1/sessions?alerting=maybe', 'query.alerting'],
    ['/v1/sessions?nonsense=1', 'query'],
    ['/v1/notices?severity=awful', 'query.severity'],
    ['/v1/notices?since=yesterday', 'since'],
    ['/v1/journal?until=2026-11-30', 'until'],
    [`/v1/notices?session=${'s'.repeat(1_000)}`, 'query.session'],
    [`/v1/sessions/${encodeURIComponent('/.*>'.repeat(250))}`, 'path.id'],
  ])('%s is answered 422 with its field', async (path, field) => {
    const { status, body } = await get(path);
    expect(status).toBe(422);
    expect(body.errors[0]?.path).toBe(field);
  });

  it.each(['x', 'bm9uc2Vuc2U', Buffer.from('[1.5,"a"]').toString('base64url'), Buffer.from('["a",1]').toString('base64url')])(
    'with the cursor %s is answered 400',
    async (cursor) => {
      expect(await get(`/v1/notices?cursor=${cursor}`)).toMatchObject({
        status: 400,
        body: { type: 'urn:fleetmend:problem:invalid-cursor' },
      });
    },
  );
});
