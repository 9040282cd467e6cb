import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '#testing';
import { openGateway, type Fixture } from './fixture.js';
import { at, insertEpisode, insertKey, insertNotice } from './rows.js';

let fixture: Fixture;
type Json = Record<string, unknown>;
const get = async (path: string) => {
  const { status, body } = await fixture.call('GET', path);
  return { status, body: body as unknown as Json & { items: Json[] } };
};

beforeAll(async () => {
  fixture = await openGateway();
  const { db } = fixture;
  for (const n of [1, 2, 3, 4]) {
    await insertNotice(db, `n-00000000000${n}-a`, { t: n });
    await insertEpisode(db, `e-${n}`, n, [`n-00000000000${n}-a`]);
  }
  await db.query(
    `INSERT INTO repair.work (episode, project, incident, s, session, t, state, waits_for, runs, failures, last_error, run_after)
     SELECT e.id, e.project, e.incident_id, e.s, e.session, e.t, w.state, w.waits_for, w.runs, w.failures, w.last_error, 'epoch'::timestamptz + interval '1 second'
     FROM mailbox.episodes e JOIN (VALUES ('e-1', 'done', NULL, 1, 0, NULL), ('e-2', 'blocked', 'operator', 5, 5, 'turn_limit'),
       ('e-3', 'waiting', 'hourly_limit', 0, 0, NULL)) w(id, state, waits_for, runs, failures, last_error) ON w.id = e.id`,
  );
  await db.query(
    `UPDATE mailbox.episodes SET status = 'settled', settled_at = now(), outcome = '{"status": "duplicate", "rule_id": "r-1", "decided_by": null}' WHERE id = 'e-1'`,
  );
  await db.query(
    `INSERT INTO repair.runs (episode, run, project, model, started_at, ended_at, status, result) VALUES
       ('e-2', 2, 'default', NULL, 'epoch'::timestamptz + interval '2 second', NULL, NULL, NULL),
       ('e-2', 1, 'default', 'm-1', 'epoch'::timestamptz + interval '1 second', 'epoch'::timestamptz + interval '2 second', 'failed', '{"status": "failed"}')`,
  );
}, 60_000);
afterAll(async () => {
  await fixture.close();
}, 30_000);

describe('GET /v1/episodes', () => {
  it('says how each ended, or what its repair waits for', async () => {
    const { body } = await get('/v1/episodes');
    expect(body.items).toMatchObject([
      { id: 'e-4', outcome: null, settled_at: null, work: null },
      { id: 'e-3', work: { state: 'waiting', waits_for: 'hourly_limit', runs: 0, next_run_at: 1_000_000 } },
      { id: 'e-2', work: { state: 'blocked', waits_for: 'operator', failures: 5, last_error: 'turn_limit', next_run_at: null } },
      {
        id: 'e-1',
        status: 'settled',
        outcome: { status: 'duplicate', rule_id: 'r-1' },
        work: { state: 'done', next_run_at: null },
      },
    ]);
    expect(body.items[0]).toMatchObject({ opened_at: at(4) });
  });

  it('filters by end and by what is waited for', async () => {
    const ids = async (query: string) => (await get(`/v1/episodes${query}`)).body.items.map(({ id }) => id);
    expect(await ids('?outcome=duplicate')).toEqual(['e-1']);
    expect(await ids('?outcome=no_proposal')).toEqual([]);
    expect(await ids('?waits_for=operator')).toEqual(['e-2']);
    expect(await ids('?status=settled')).toEqual(['e-1']);
    expect((await get('/v1/episodes?outcome=maybe')).status).toBe(422);
  });
});

describe('GET /v1/episodes/{id}', () => {
  it('has every run in order', async () => {
    const { body } = await get('/v1/episodes/e-2');
    expect(body).toMatchObject({
      id: 'e-2',
      runs: [
        { run: 1, model: 'm-1', status: 'failed', started_at: 1_000_000, ended_at: 2_000_000, result: { status: 'failed' } },
        { run: 2, model: null, status: null, ended_at: null, result: null },
      ],
    });
    expect((await get('/v1/episodes/e-4')).body['runs']).toEqual([]);
    expect((await get('/v1/episodes/e-0')).status).toBe(404);
  });
});

describe('POST /v1/episodes/{id}/retry', () => {
  it('lets a blocked episode run again, once, and says who did', async () => {
    const retry = (id: string) => fixture.call('POST', `/v1/episodes/${id}/retry`);
    const answers = await Promise.all([retry('e-2'), retry('e-2'), retry('e-2')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect((await get('/v1/episodes/e-2')).body['work']).toMatchObject({
      state: 'waiting',
      waits_for: null,
      failures: 0,
      runs: 5,
    });
    const journal = await fixture.call('GET', '/v1/journal?episode=e-2');
    expect(journal.body.items).toMatchObject([{ type: 'episode_retried', doc: { by: 'loopback' }, session_id: 'noticed' }]);
    expect((await retry('e-3')).status).toBe(409);
    expect((await retry('e-0')).status).toBe(404);
  });

  it('is for operators', async () => {
    await insertKey(fixture.db, 'fm_default_watch', ['observe', 'rules:read', 'ingest']);
    const retry = () => fixture.call('POST', '/v1/episodes/e-1/retry', { key: 'fm_default_watch' });
    await eventually(async () => (await retry()).status !== 401);
    expect((await retry()).status).toBe(403);
    expect((await fixture.call('GET', '/v1/episodes/e-1', { key: 'fm_default_watch' })).status).toBe(200);
  });
});
