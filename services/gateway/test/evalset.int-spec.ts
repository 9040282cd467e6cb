import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sessionKey } from '#domain/ids';
import { eventually } from '#testing';
import { openGateway, type Answer, type Fixture } from './fixture.js';
import { insertKey, insertTurn } from './rows.js';

let fixture: Fixture;
const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> =>
  fixture.call(method, `/v1/evalset${path}`, {
    ...(body === undefined ? {} : { body }),
    ...(headers === undefined ? {} : { headers }),
  });
const fields = (answer: Answer): Record<string, unknown> => answer.body as unknown as Record<string, unknown>;
const imported = (lines: readonly unknown[]): Promise<Answer> =>
  call('POST', '/import', lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'), {
    'content-type': 'application/x-ndjson',
  });
const exported = async (): Promise<{ version: string | null; lines: Record<string, unknown>[] }> => {
  const { text, headers } = await call('GET', '/export');
  const lines = text.split('\n').filter((line) => line !== '');
  return {
    version: headers.get('fleetmend-evalset-version'),
    lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
};
const journaled = (): Promise<{ type: string; case: string }[]> =>
  fixture.db.query(`SELECT type, doc->>'case' AS case FROM journal.events WHERE type LIKE 'eval_%' ORDER BY at, id`);
const sessions = async (query = ''): Promise<unknown[]> => (await call('GET', query)).body.items.map(({ session_id: id }) => id);

/** A turn with its report, as the loop leaves it. */
async function reported(session: string, t: number, report: { signatures?: string[]; endState?: unknown } = {}): Promise<void> {
  const { signatures = [], endState = null } = report;
  await insertTurn(fixture.db, session, t, { value: 0.4 });
  const key = [sessionKey('default', session), t];
  const scores = [
    { metric: 'task_completion', trace_id: 'a', value: 0.2 },
    { metric: 'task_completion', trace_id: 'b', value: 0.3 },
    { metric: 'tool_correctness', trace_id: 'b', value: null },
  ];
  await fixture.db.query('UPDATE gating.turn_evals SET report = $3 WHERE s = $1 AND t = $2', [
    ...key,
    JSON.stringify({ signatures, scores }),
  ]);
  await fixture.db.query('UPDATE scoring.turns SET end_state = $3 WHERE s = $1 AND t = $2', [...key, JSON.stringify(endState)]);
}

const limit = async (max: number): Promise<void> => {
  await fixture.call('PUT', '/v1/settings', { body: { eval_case_max: max } });
  // The gateway reads settings once a second.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
};

beforeAll(async () => {
  fixture = await openGateway();
  await reported('failed', 3, {
    signatures: ['breach:tool_correctness', 'stall:task_completion'],
    endState: { order: 7 },
  });
  await reported('fine', 0, { endState: {} });
  await insertTurn(fixture.db, 'undecided', 0, { value: 0.4 });
}, 60_000);
beforeEach(async () => {
  await fixture.db.query('DELETE FROM evalset.cases');
  await fixture.db.query('DELETE FROM evalset.versions');
  await fixture.db.query('DELETE FROM journal.events');
});
afterAll(() => fixture.close(), 30_000);

describe('a turn kept by hand', () => {
  it('becomes a case with the signatures and scores of its report, and what its end state holds', async () => {
    const { status, body } = await call('POST', '', {
      session_id: 'failed',
      turn_index: 3,
      kind: 'failure',
      notes: '  wrong tool\u0007 ',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ result: 'captured', evicted: [], version: 1 },
      case: {
        ...{ session_id: 'failed', kind: 'failure', signature: ['breach:tool_correctness', 'stall:task_completion'] },
        ...{ baseline: { task_completion: 0.3 }, replayable: true, notice_id: null },
      },
    });
    const { id } = fields({ body } as Answer)['case'] as { id: string };
    expect((await call('GET', `/${id}`)).body).toMatchObject({
      id,
      replay_input: { order: 7 },
      version: 1,
    });
    expect(await journaled()).toEqual([{ type: 'eval_case_captured', case: id }]);
  });

  it('is one case, however often and in whatever order of signatures it is kept; a win is another', async () => {
    const keep = (more: object): Promise<Answer> =>
      call('POST', '', { session_id: 'failed', turn_index: 3, kind: 'failure', ...more });
    expect((await keep({ signature: ['b', 'a'] })).body).toMatchObject({ result: 'captured', version: 1 });
    expect((await keep({ signature: ['a', 'b', 'a'] })).body).toMatchObject({ result: 'known', version: 1 });
    expect((await keep({ signature: ['a', 'b'], kind: 'win' })).body).toMatchObject({ result: 'captured', version: 2 });
  });

  it('is a label only where neither the caller nor the turn gives an input', async () => {
    const { body } = await call('POST', '', { session_id: 'fine', turn_index: 0, kind: 'win' });
    expect(body).toMatchObject({ case: { signature: [], replayable: false } });
    expect(await sessions('?replayable=true')).toEqual([]);
  });

  it('needs a report', async () => {
    for (const [session, turn] of [
      ['undecided', 0],
      ['failed', 9],
      ['nobody', 0],
    ])
      expect((await call('POST', '', { session_id: session, turn_index: turn, kind: 'win' })).status).toBe(404);
    expect(await call('GET', '')).toMatchObject({ body: { items: [], version: 0 } });
  });

  it('refuses an input that is too large for one message', async () => {
    const body = { session_id: 'fine', turn_index: 0, kind: 'win', replay_input: 'x'.repeat(2 ** 20) };
    expect(await call('POST', '', body)).toMatchObject({ status: 422, body: { errors: [{ path: 'replay_input' }] } });
  });
});

describe('a full set', () => {
  const failure = (n: number): object => ({ session_id: `f${n}`, kind: 'failure', signature: ['breach:x'] });
  const win = (n: number): object => ({ session_id: `w${n}`, kind: 'win' });
  beforeAll(() => limit(3));
  afterAll(() => limit(200));

  it('lets the oldest failure go, and says which', async () => {
    await imported([failure(1), win(1), failure(2)]);
    const { body } = await call('POST', '', { session_id: 'failed', turn_index: 3, kind: 'failure' });
    const [{ id } = { id: '' }] = await fixture.db.query<{ id: string }>(
      `SELECT doc->>'case' AS id FROM journal.events WHERE type = 'eval_case_evicted'`,
    );
    expect(body).toMatchObject({ result: 'captured', evicted: [id] });
    expect((await exported()).lines.map(({ session_id: session }) => session)).toEqual(['w1', 'f2', 'failed']);
  });

  it('takes a case again that it has let go, even within one import', async () => {
    await imported([failure(1), failure(2), failure(3)]);
    const { body } = await imported([failure(4), failure(1), failure(4)]);
    expect(body).toMatchObject({ captured: 2, known: 1, version: 2, evicted: { length: 2 } });
    expect((await exported()).lines.map(({ session_id: session }) => session)).toEqual(['f3', 'f4', 'f1']);
  });

  it('of wins alone refuses loudly, and is not changed', async () => {
    await imported([win(1), win(2), win(3)]);
    const refused = await call('POST', '', { session_id: 'failed', turn_index: 3, kind: 'failure' });
    expect(refused).toMatchObject({
      status: 409,
      body: { type: 'urn:fleetmend:problem:no-room', detail: expect.stringContaining('eval_case_max') },
    });
    expect((await journaled()).at(-1)).toMatchObject({ type: 'eval_case_refused' });
    expect(await call('GET', '')).toMatchObject({ body: { version: 1 } });
    expect(await sessions('?kind=win')).toHaveLength(3);
  });

  it('is never larger than its limit, whoever captures at the same time', async () => {
    await Promise.all(Array.from({ length: 8 }, (_, n) => imported([failure(2 * n), failure(2 * n + 1), win(n % 2)])));
    expect(await sessions()).toHaveLength(3);
    expect(await sessions('?kind=win')).toHaveLength(2);
    const [{ changes } = { changes: 0 }] = await fixture.db.query<{ changes: number }>(
      `SELECT count(DISTINCT doc->>'version')::int AS changes FROM journal.events WHERE type = 'eval_case_captured'`,
    );
    expect((await call('GET', '')).body).toMatchObject({ version: changes });
  });
});

describe('import and export', () => {
  const cases = [
    {
      session_id: 'a',
      kind: 'failure',
      signature: ['breach:x', 'stall:y'],
      baseline: { x: 0.25 },
      replay_input: { task: 1 },
      notes: 'n',
    },
    { session_id: 'b', kind: 'win', signature: [], baseline: {}, replay_input: null, notes: '' },
  ];

  it('give back what was taken, in its order, with the version of the set', async () => {
    expect((await imported(cases)).body).toMatchObject({ captured: 2, known: 0, refused: 0, rejected: 0, version: 1 });
    const { version, lines } = await exported();
    expect(version).toBe('1');
    expect(lines).toEqual(cases.map((one) => ({ ...one, id: expect.stringMatching(/^c-/), created_at: expect.any(Number) })));
    expect((await imported(lines)).body).toMatchObject({ captured: 0, known: 2, version: 1 });
    await fixture.db.query('DELETE FROM evalset.cases');
    expect((await imported(lines)).body).toMatchObject({ captured: 2, version: 2 });
    const again = await exported();
    expect(again.lines.map(({ created_at: _, ...line }) => line)).toEqual(lines.map(({ created_at: _, ...line }) => line));
  });

  it('say of every line what became of it, and take the good ones', async () => {
    const { body } = await imported([
      cases[0],
      '',
      '{"session_id": ',
      { session_id: 'c' },
      cases[0],
      { ...cases[0], baseline: { x: 2 } },
    ]);
    expect(body).toMatchObject({ captured: 1, known: 1, rejected: 3 });
    expect(body.results.map(({ ...one }) => one)).toEqual([
      { line: 1, status: 'captured', id: expect.any(String), error: null },
      { line: 3, status: 'rejected', id: null, error: expect.stringContaining('line 1') },
      { line: 4, status: 'rejected', id: null, error: expect.stringContaining('kind') },
      { line: 5, status: 'known', id: expect.any(String), error: null },
      { line: 6, status: 'rejected', id: null, error: expect.stringContaining('baseline.x') },
    ]);
  });

  it('take a thousand lines at once and refuse more, and what is no JSON Lines', async () => {
    const many = Array.from({ length: 1_001 }, (_, n) => ({ session_id: `s${n}`, kind: 'failure' }));
    expect((await imported(many)).status).toBe(422);
    expect((await imported(many.slice(1))).body).toMatchObject({ captured: 1_000, evicted: { length: 800 } });
    expect(await sessions('?limit=200')).toHaveLength(200);
    expect((await call('POST', '/import', 'a', { 'content-type': 'text/plain' })).status).toBe(415);
  }, 60_000);
});

describe('a case', () => {
  const add = async (line: object): Promise<string> => {
    const [first] = (await imported([line])).body.results as unknown as { id: string }[];
    return first?.id ?? '';
  };

  it('becomes replayable when its input is attached', async () => {
    const id = await add({ session_id: 'a', kind: 'failure', signature: ['breach:x'], notes: 'old' });
    const attached = await call('POST', `/${id}/input`, { replay_input: { task: 2, password: 'p' } });
    expect(attached.body).toMatchObject({
      id,
      replayable: true,
      replay_input: { task: 2, password: '[redacted]' },
      notes: 'old',
      version: 2,
    });
    expect((await call('POST', `/${id}/input`, { replay_input: 'text', notes: 'new' })).body).toMatchObject({
      replay_input: 'text',
      notes: 'new',
      version: 3,
    });
    for (const body of [{}, { replay_input: null }]) expect((await call('POST', `/${id}/input`, body)).status).toBe(422);
    expect((await journaled()).filter(({ type }) => type === 'eval_case_input_attached')).toHaveLength(2);
  });

  it('is gone when it is removed, and can be captured again', async () => {
    const line = { session_id: 'a', kind: 'win' };
    const id = await add(line);
    expect((await call('DELETE', `/${id}`)).body).toEqual({ id, version: 2 });
    for (const [method, path] of [
      ['DELETE', ''],
      ['GET', ''],
      ['POST', '/input'],
    ])
      expect((await call(method ?? '', `/${id}${path}`, method === 'POST' ? { replay_input: 1 } : undefined)).status).toBe(404);
    expect(await add(line)).toBe(id);
    expect((await journaled()).map(({ type }) => type)).toEqual([
      'eval_case_captured',
      'eval_case_removed',
      'eval_case_captured',
    ]);
  });

  it('is listed newest first, page by page, by kind, signature and whether it can be replayed', async () => {
    for (const n of [0, 1, 2, 3, 4])
      await add({
        session_id: `s${n}`,
        kind: n === 4 ? 'win' : 'failure',
        signature: [`breach:m${n % 2}`],
        replay_input: n < 2 ? { n } : null,
      });
    const first = await call('GET', '?limit=3');
    expect(first.body.items.map(({ session_id: id }) => id)).toEqual(['s4', 's3', 's2']);
    expect(first.body.items[0]).not.toHaveProperty('replay_input');
    expect(await sessions(`?limit=3&cursor=${String(first.body.next_cursor)}`)).toEqual(['s1', 's0']);
    expect(await sessions('?kind=win')).toEqual(['s4']);
    expect(await sessions('?signature=breach:m1')).toEqual(['s3', 's1']);
    expect(await sessions('?replayable=true')).toEqual(['s1', 's0']);
    expect(await sessions('?replayable=false&kind=failure')).toEqual(['s3', 's2']);
  });

  it('is of its project alone, and for operators alone', async () => {
    const id = await add({ session_id: 'a', kind: 'win' });
    await fixture.db.query("INSERT INTO edge.projects (project) VALUES ('other') ON CONFLICT DO NOTHING");
    await insertKey(fixture.db, 'fm_other_1', ['operate'], { project: 'other' });
    await insertKey(fixture.db, 'fm_default_1', ['observe', 'rules:read', 'ingest']);
    try {
      // Keys made behind the gateway's back are seen within a second.
      const seen = await eventually(async () => {
        const answer = await fixture.call('GET', '/v1/evalset', { key: 'fm_other_1' });
        return answer.status !== 401 && answer;
      });
      expect(seen.body).toMatchObject({ items: [], version: 0 });
      for (const method of ['GET', 'DELETE'])
        expect((await fixture.call(method, `/v1/evalset/${id}`, { key: 'fm_other_1' })).status).toBe(404);
      for (const path of ['', '/export', `/${id}`])
        expect((await fixture.call('GET', `/v1/evalset${path}`, { key: 'fm_default_1' })).status).toBe(403);
    } finally {
      await fixture.db.query('DELETE FROM edge.api_keys');
    }
  });
});
