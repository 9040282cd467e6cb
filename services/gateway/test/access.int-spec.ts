import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '#testing';
import { openGateway, turn, type Fixture } from './fixture.js';
import { insertKey } from './rows.js';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openGateway();
}, 60_000);
afterAll(async () => {
  await fixture.close();
}, 30_000);

/** A revocation, and a key made elsewhere, hold after at most a second. */
const SETTLE_MS = 1_000;

beforeEach(async () => {
  await fixture.db.query('DELETE FROM edge.api_keys');
  await sleep(SETTLE_MS);
});

const post = (key?: string) => fixture.call('POST', '/v1/turns', { body: turn('s', 0), key });
const createKey = (body: object, key?: string) => fixture.call('POST', '/v1/keys', { body, key });

/** Headers that fetch does not let us set. */
function rawStatus(headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    httpRequest(`${fixture.url}/v1/sessions`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

describe('without any key', () => {
  it('this machine uses the project default', async () => {
    expect((await post()).status).toBe(202);
  });

  it('what only passes through this machine is refused', async () => {
    expect(await rawStatus({})).toBe(200);
    expect(await rawStatus({ 'x-forwarded-for': '203.0.113.7' })).toBe(401);
    expect(await rawStatus({ host: 'evil.example' })).toBe(401);
    expect(await rawStatus({ 'sec-fetch-site': 'cross-site' })).toBe(401);
  });

  it('a key that nobody made is refused', async () => {
    expect(await post('fm_nowhere_abc')).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining('No project has this key') },
    });
  });

  it('a gateway that others could reach refuses to start, and says how to make a key', async () => {
    await expect(fixture.another({ http_host: '0.0.0.0' })).rejects.toThrow(/fleetmend keys create/);
  });
});

describe('with keys', () => {
  it('the first one is shown once, stored as a hash, and needed from then on', async () => {
    const { status, body } = await createKey({ name: 'ops', scopes: ['operate'] });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      project: 'default',
      name: 'ops',
      scopes: ['operate'],
      expires_at: null,
      revoked_at: null,
      notes: [],
    });
    expect(body.key).toMatch(/^fm_default_[\w-]{43}$/);
    expect(await post()).toMatchObject({ status: 401, headers: expect.anything() });
    expect((await post()).headers.get('www-authenticate')).toContain('Bearer');
    expect((await post(body.key)).status).toBe(202);
    const list = await fixture.call('GET', '/v1/keys', { key: body.key });
    expect(list.text).not.toContain(body.key.slice(-20));
    const [row] = await fixture.db.query<{ stored: string }>('SELECT t::text AS stored FROM edge.api_keys t');
    expect(row?.stored).not.toContain(body.key.slice(-20));
  });

  it('a first key that cannot make others says so', async () => {
    const { body } = await createKey({ name: 'agents', scopes: ['ingest'] });
    expect(body.notes).toEqual([expect.stringContaining('fleetmend keys create')]);
  });

  it('each scope opens its own routes only', async () => {
    for (const scope of ['ingest', 'observe', 'rules:read', 'operate'])
      await insertKey(fixture.db, `fm_default_${scope}`, [scope]);
    await sleep(SETTLE_MS);
    const statuses = async (scope: string): Promise<number[]> => {
      const key = `fm_default_${scope}`;
      const answers = [
        await post(key),
        await fixture.call('GET', '/v1/notices', { key }),
        await fixture.call('GET', '/v1/keys', { key }),
      ];
      return answers.map(({ status }) => status);
    };
    expect(await statuses('ingest')).toEqual([202, 403, 403]);
    expect(await statuses('observe')).toEqual([403, 200, 403]);
    expect(await statuses('rules:read')).toEqual([403, 403, 403]);
    expect(await statuses('operate')).toEqual([202, 200, 200]);
    const { body } = await fixture.call('GET', '/v1/notices', { key: 'fm_default_ingest' });
    expect(body).toMatchObject({ title: 'Not allowed', detail: expect.stringContaining('observe or operate') });
  });

  it('a revoked one is refused by every gateway within a second', async () => {
    const other = await fixture.another();
    const { body: ops } = await createKey({ name: 'ops', scopes: ['operate'] });
    const { body: agents } = await createKey({ name: 'agents', scopes: ['ingest'] }, ops.key);
    const there = () => fixture.call('POST', '/v1/turns', { body: turn('s', 0), key: agents.key, base: other.url });
    await eventually(async () => (await there()).status === 202, 1_500);
    const revoked = await fixture.call('DELETE', `/v1/keys/${agents.id}`, { key: ops.key });
    expect(revoked).toMatchObject({ status: 200, body: { id: agents.id, revoked_at: expect.any(Number) } });
    expect(await post(agents.key)).toMatchObject({ status: 401, body: { detail: expect.stringContaining('revoked') } });
    await sleep(SETTLE_MS);
    expect((await there()).status).toBe(401);
    const again = await fixture.call('DELETE', `/v1/keys/${agents.id}`, { key: ops.key });
    expect(again.body).toEqual(revoked.body);
    expect((await fixture.call('DELETE', '/v1/keys/k-none', { key: ops.key })).status).toBe(404);
  });

  it('an expired one is refused, and does not open the gateway', async () => {
    await insertKey(fixture.db, 'fm_default_old', ['operate'], { expires: '2020-01-01' });
    await sleep(SETTLE_MS);
    expect(await post('fm_default_old')).toMatchObject({ status: 401, body: { detail: expect.stringContaining('expired') } });
    expect((await post()).status).toBe(401);
  });

  it('creation and revocation are journaled with who did it', async () => {
    const { body: ops } = await createKey({ name: 'ops', scopes: ['operate'] });
    const { body } = await fixture.call('GET', '/v1/journal?type=key_created&limit=1', { key: ops.key });
    expect(body.items[0]?.['doc']).toMatchObject({ key: ops.id, who: 'loopback' });
    expect(JSON.stringify(body)).not.toContain(ops.key);
  });

  it('refuses what is no key', async () => {
    for (const body of [{}, { name: 'x', scopes: [] }, { name: 'x', scopes: ['everything'] }, { name: '', scopes: ['ingest'] }])
      expect((await createKey(body)).status).toBe(422);
    expect(await createKey({ name: 'x', scopes: ['ingest'], expires_at: '2020-01-01T00:00:00Z' })).toMatchObject({ status: 422 });
    expect((await createKey({ name: 'x', scopes: ['ingest'], project: 'nowhere' })).status).toBe(404);
    expect((await fixture.call('GET', '/v1/keys', { headers: { authorization: 'Basic abc' } })).status).toBe(401);
  });

  it('the gateway may listen for others', async () => {
    await insertKey(fixture.db, 'fm_default_k', ['operate']);
    const open = await fixture.another({ http_host: '0.0.0.0' });
    expect((await fixture.call('GET', '/v1/notices', { base: open.url, key: 'fm_default_k' })).status).toBe(200);
    await fixture.db.query('DELETE FROM edge.api_keys');
    await sleep(SETTLE_MS);
    expect((await fixture.call('GET', '/v1/notices', { base: open.url })).status).toBe(401);
  });
});

describe('projects', () => {
  it('are made with their first key, and their data stays apart', async () => {
    const { body: ops } = await createKey({ name: 'ops', scopes: ['operate'] });
    const made = await fixture.call('POST', '/v1/projects', { body: { project: 'second' }, key: ops.key });
    expect(made).toMatchObject({ status: 201, body: { project: 'second', key: { project: 'second', scopes: ['operate'] } } });
    const first = made.body.key as unknown as { id: string; key: string };
    const theirs = await fixture.call('GET', '/v1/projects', { key: first.key });
    expect(theirs.body.items.map(({ project }) => project)).toEqual(['second']);
    expect((await createKey({ name: 'x', scopes: ['ingest'], project: 'second' }, ops.key)).status).toBe(403);
    expect((await fixture.call('DELETE', `/v1/keys/${first.id}`, { key: ops.key })).status).toBe(404);
    expect((await fixture.call('POST', '/v1/projects', { body: { project: 'second' }, key: ops.key })).status).toBe(409);
  });

  it('have names that fit into a subject', async () => {
    for (const project of ['', 'Upper', 'a.b', 'a*', '-a', 'a'.repeat(64)])
      expect(await fixture.call('POST', '/v1/projects', { body: { project } })).toMatchObject({ status: 422 });
  });
});

describe('settings', () => {
  const put = (body: unknown) => fixture.call('PUT', '/v1/settings', { body });

  it('tell the value in force and where each comes from', async () => {
    const other = await fixture.another({ gate_drop: 0.3, thresholds: { coherence: 0.4 } });
    await put({ gate_window: 7, thresholds: { plan_quality: 0.2 } });
    const { body } = await fixture.call('GET', '/v1/settings', { base: other.url });
    expect(body.settings).toMatchObject({
      gate_window: 7,
      gate_drop: 0.3,
      gate_gain: 0.02,
      thresholds: { coherence: 0.4, plan_quality: 0.2 },
    });
    expect(body.origins).toMatchObject({
      gate_window: 'project',
      gate_drop: 'process',
      gate_gain: 'default',
      'thresholds.coherence': 'process',
      'thresholds.plan_quality': 'project',
    });
  });

  it('change in versions, are journaled with who, and null takes a value back', async () => {
    const { body: before } = await put({ gate_window: 9, thresholds: { coherence: 0.6 } });
    const { body: after } = await put({ gate_window: null, thresholds: { coherence: null } });
    expect(after).toMatchObject({
      version: before.version + 1,
      settings: { gate_window: 5 },
      origins: { gate_window: 'default' },
    });
    expect(after.settings.thresholds).not.toHaveProperty('coherence');
    expect((await put({ gate_window: null })).body.version).toBe(after.version);
    const { body } = await fixture.call('GET', '/v1/journal?type=settings_changed&limit=1');
    expect(body.items[0]?.['doc']).toEqual({
      version: after.version,
      who: 'loopback',
      patch: { gate_window: null, thresholds: { coherence: null } },
    });
  });

  it('that are wrong are refused whole, with the field and the known names', async () => {
    const { body: before } = await fixture.call('GET', '/v1/settings');
    const { status, body } = await put({
      gate_window: 'five',
      tier1_metrics: ['coherance'],
      thresholds: { coherence: 2 },
      colour: 'red',
    });
    expect(status).toBe(422);
    expect(body.errors.map(({ path }: { path: string }) => path).sort()).toEqual([
      'colour',
      'gate_window',
      'thresholds.coherence',
      'tier1_metrics.0',
    ]);
    expect(JSON.stringify(body.errors)).toMatch(/known metrics: outcome_correct, task_completion/);
    expect((await put({ thresholds: { nonsense: 0.5 } })).body.detail).toContain('thresholds.nonsense');
    expect((await fixture.call('GET', '/v1/settings')).body).toEqual(before);
    for (const wrong of ['[]', '7', 'null']) expect((await put(wrong)).status).toBe(422);
  });

  it('changed by many at once lose nothing', async () => {
    const { body: before } = await fixture.call('GET', '/v1/settings');
    const names = ['gate_gain', 'gate_drop', 'revise_window_turns', 'trace_wait_s', 'eval_case_max'];
    const answers = await Promise.all(names.map((name) => put({ [name]: 0 })));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    const { body: after } = await fixture.call('GET', '/v1/settings');
    expect(after.version).toBe(before.version + names.length);
    expect(names.map((name) => (after.settings as Record<string, unknown>)[name])).toEqual(names.map(() => 0));
  });
});
