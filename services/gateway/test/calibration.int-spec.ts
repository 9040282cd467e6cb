import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sessionKey } from '#domain/ids';
import { openGateway, type Fixture } from './fixture.js';
import { at, insertKey, insertSession } from './rows.js';

let fixture: Fixture;

interface ScoreRow {
  readonly t: number;
  readonly value: number | null;
  readonly metric?: string;
  readonly source?: string;
  readonly trace?: string;
  readonly ordinal?: number;
  readonly evaluator?: string;
  readonly minute?: number;
}

async function insertScores(session: string, rows: readonly ScoreRow[], project = 'default'): Promise<void> {
  const s = sessionKey(project, session);
  for (const row of rows) {
    const {
      t,
      value,
      metric = 'task_completion',
      source = 'check',
      trace = 'a',
      ordinal = 0,
      evaluator = 'check/1',
      minute = 0,
    } = row;
    await fixture.db.query(
      `INSERT INTO scoring.turns (s, t, project, accepted_us, body_sha, config) VALUES ($1, $2, $3, $4, '\\x00', 'c') ON CONFLICT DO NOTHING`,
      [s, t, project, at(t)],
    );
    await fixture.db.query(
      `INSERT INTO scoring.scores (s, t, tier, trace, metric, source, evaluator, ordinal, status, value, at)
       VALUES ($1, $2, 1, $3, $4, $5, $6, $7, $8, $9, timestamptz '2026-11-30T00:00:00Z' + $10 * interval '1 minute')`,
      [s, t, trace, metric, source, evaluator, ordinal, value === null ? 'pending' : 'scored', value, minute],
    );
  }
}

async function insertCase(session: string, kind: string): Promise<void> {
  await fixture.db.query(
    `INSERT INTO evalset.cases (id, project, s, session, kind, signatures, baseline, notes) VALUES ($1, 'default', $2, $3, $4, $5, '{}', '')`,
    [`${session}-${kind}`, sessionKey('default', session), session, kind, [`breach:${kind}`]],
  );
}

beforeAll(async () => {
  fixture = await openGateway();
  const { db } = fixture;
  await db.query("INSERT INTO edge.projects (project) VALUES ('other')");
  for (let n = 0; n < 5; n += 1) await insertSession(db, `plain-${n}`, { second: 10 });
  await insertSession(db, 'rich', { second: 20 });
  await insertSession(db, 'foreign', { project: 'other', second: 30 });
  await insertScores('foreign', [{ t: 0, value: 0.5 }], 'other');
  await insertScores('rich', [
    { t: 2, value: 0.1, trace: 'b' },
    { t: 0, value: 0.1 + 0.2, trace: 'z', ordinal: 0 },
    { t: 0, value: 0.4, trace: 'a', ordinal: 1 },
    { t: 1, value: null },
    { t: 1, value: 0.7, metric: 'coherence', source: 'lexical' },
    { t: 2, value: 0.9, trace: 'b', evaluator: 'check/2', minute: 1 },
    { t: 2, value: 0.6, trace: 'b', source: 'judge', evaluator: 'judge/1' },
    { t: 2, value: 1, metric: 'outcome_correct', source: 'verifier', trace: '', evaluator: 'verifier/1' },
  ]);
  await insertCase('rich', 'win');
  await insertCase('plain-0', 'win');
  await insertCase('plain-0', 'failure');
}, 60_000);

afterAll(async () => {
  await fixture.close();
}, 30_000);

const get = (query: string, key?: string) => fixture.call('GET', `/v1/scores${query}`, key === undefined ? {} : { key });

describe('GET /v1/scores', () => {
  it('gives the values of a session per metric and source, in trace order, the latest of a trace scored twice', async () => {
    const { status, body } = await get('?limit=1');
    expect(status).toBe(200);
    expect(body.items).toEqual([
      {
        ...{ session_id: 'rich', first_at: at(20), last_turn_index: 2, cut: false, eval_case: 'win' },
        tracks: [
          { metric: 'coherence', source: 'lexical', turns: [1], values: [0.7] },
          { metric: 'outcome_correct', source: 'verifier', turns: [2], values: [1] },
          { metric: 'task_completion', source: 'check', turns: [0, 0, 2], values: [0.1 + 0.2, 0.4, 0.9] },
          { metric: 'task_completion', source: 'judge', turns: [2], values: [0.6] },
        ],
      },
    ]);
  });

  it('lists every session of the project once, newest first, page by page; those without values too', async () => {
    const seen: unknown[] = [];
    let cursor = '';
    do {
      const { body } = await get(`?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...body.items.map(({ session_id: id }) => id));
      cursor = body.next_cursor ?? '';
    } while (cursor !== '');
    expect(seen[0]).toBe('rich');
    expect([...seen].sort()).toEqual(['plain-0', 'plain-1', 'plain-2', 'plain-3', 'plain-4', 'rich']);
  });

  it('says that a session failed when any of its cases is a failure', async () => {
    const { body } = await get('');
    const cases = body.items.map(({ session_id: id, eval_case: kind }) => [id, kind]);
    expect(cases).toContainEqual(['plain-0', 'failure']);
    expect(cases).toContainEqual(['plain-1', null]);
  });

  it('filters by metric, and by the time of the first turn', async () => {
    const { body } = await get('?metric=coherence&limit=1');
    expect(body.items[0]?.['tracks']).toEqual([expect.objectContaining({ metric: 'coherence' })]);
    expect((await get(`?since=${at(20)}`)).body.items).toHaveLength(1);
    expect((await get(`?until=${at(20)}`)).body.items).toHaveLength(5);
    expect((await get(`?since=${at(20)}&until=${at(20)}`)).body.items).toEqual([]);
  });

  it('gives the newest 500 turns of a long session, and says that there were more', async () => {
    const s = sessionKey('default', 'long');
    await insertSession(fixture.db, 'long', { second: 40 });
    await fixture.db.query(
      `INSERT INTO scoring.turns (s, t, project, accepted_us, body_sha, config) SELECT $1, t, 'default', t, '\\x00', 'c' FROM generate_series(0, 501) t`,
      [s],
    );
    await fixture.db.query(
      `INSERT INTO scoring.scores (s, t, tier, trace, metric, source, evaluator, ordinal, status, value)
       SELECT $1, t, 1, 'a', 'task_completion', 'check', 'check/1', 0, 'scored', 1 FROM generate_series(0, 501) t`,
      [s],
    );
    const [item] = (await get('?limit=1')).body.items as {
      cut: boolean;
      last_turn_index: number;
      tracks: { turns: number[] }[];
    }[];
    expect([item?.cut, item?.last_turn_index, item?.tracks[0]?.turns.length, item?.tracks[0]?.turns[0]]).toEqual([
      true,
      501,
      500,
      2,
    ]);
    await fixture.db.query('DELETE FROM scoring.sessions WHERE s = $1', [s]);
  });

  it.each([
    ['?metric=', 200],
    ['?limit=0', 422],
    ['?since=yesterday', 422],
    ['?nonsense=1', 422],
    ['?cursor=x', 400],
  ])('answers %s with %d', async (query, status) => {
    expect((await get(query)).status).toBe(status);
  });

  // Last: once a key exists, every call needs one.
  it('needs the scope observe, and shows only the project of the key', async () => {
    await insertKey(fixture.db, 'fm_other_reader', ['observe'], { project: 'other' });
    await insertKey(fixture.db, 'fm_other_agent', ['ingest'], { project: 'other' });
    const guarded = await fixture.another();
    const ask = async (key?: string) => fixture.call('GET', '/v1/scores', { base: guarded.url, key });
    expect((await ask()).status).toBe(401);
    expect((await ask('fm_other_agent')).status).toBe(403);
    expect((await ask('fm_other_reader')).body.items.map(({ session_id: id }) => id)).toEqual(['foreign']);
  });
});
