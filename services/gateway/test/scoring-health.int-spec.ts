import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { SYSTEM_PROJECT } from '#contracts';
import { cuttable, eventually } from '#testing';
import { openGateway, type Fixture } from './fixture.js';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openGateway();
}, 60_000);
afterAll(async () => {
  await fixture.close();
}, 30_000);

async function ready(base?: string): Promise<{ status: number; degraded: Record<string, string> }> {
  const { status, body } = await fixture.call('GET', '/readyz', base === undefined ? {} : { base });
  return { status, degraded: (body as unknown as { degraded: Record<string, string> }).degraded };
}

async function block(provider: string, code: string, project = 'default'): Promise<void> {
  await fixture.db.query(
    `INSERT INTO scoring.provider_blocks (project, provider, code, detail, since, probe_at)
     VALUES ($1, $2, $3, 'in its own words', '2026-11-30T02:00:00.5Z', now())`,
    [project, provider, code],
  );
}

async function gauges(base?: string): Promise<Record<string, number>> {
  const { text } = await fixture.call('GET', '/metrics', base === undefined ? {} : { base });
  const lines = [
    ...text.matchAll(
      /^(fleetmend_(?:score_jobs|providers|database)\w*)\{(?:(?:lane|state)="(\w+)",)?service="gateway"\} (\S+)$/gm,
    ),
  ];
  return Object.fromEntries(
    lines.map(([, name = '', label, value]) => [label === undefined ? name : `${name}.${label}`, Number(value)]),
  );
}

const NAME = 'scoring.judge_blocked:default:judge:m';

describe('a provider that is blocked', () => {
  it('degrades readiness with what to do, also for a gateway that starts later; one that rests does not', async () => {
    await block('judge:m', 'auth');
    await block('judge:n', 'rate_limit');
    const later = await fixture.another();
    for (const base of [fixture.url, later.url]) {
      const { status, degraded } = await ready(base);
      expect([status, Object.keys(degraded)]).toEqual([200, [NAME]]);
      expect(degraded[NAME]).toMatch(/judge:m is blocked since 2026-11-30T02:00:00Z \(auth\): give .*judge_api_key/);
      expect(degraded[NAME]).not.toContain('in its own words');
    }
  });

  it('is told once, however it was heard of, and by the table where that knows better', async () => {
    const js = jetstream(await fixture.nats.connect());
    const say = (dependency: string): Promise<unknown> =>
      js.publish(
        `fm.${SYSTEM_PROJECT}.health.scoring`,
        JSON.stringify({ service: 'scoring', status: 'degraded', dependency, detail: 'heard', at: 1 }),
      );
    await say('judge_blocked:default:judge:m');
    await say('judge_blocked:default:judge:healed-before-we-listened');
    await say('broker');
    await eventually(async () => 'scoring.broker' in (await ready()).degraded);
    const { degraded } = await ready();
    expect(Object.keys(degraded).sort()).toEqual(['scoring.broker', NAME]);
    expect(degraded[NAME]).not.toContain('heard');
  });

  it('is forgotten when its row is gone', async () => {
    await fixture.db.query('DELETE FROM scoring.provider_blocks');
    expect(NAME in (await ready()).degraded).toBe(false);
  });

  it('is told as it was heard while the database is away', async () => {
    const way = await cuttable(fixture.db.url);
    const { url: base } = await fixture.another({ database_url: way.url });
    try {
      const js = jetstream(await fixture.nats.connect());
      const event = {
        service: 'scoring',
        status: 'degraded',
        dependency: 'judge_blocked:default:judge:m',
        detail: 'heard',
        at: 1,
      };
      await js.publish(`fm.${SYSTEM_PROJECT}.health.scoring`, JSON.stringify(event));
      way.cut();
      await eventually(
        async () => (await ready(base)).degraded[NAME]?.startsWith('the provider does not answer; GET /v1/metrics') === true,
        15_000,
      );
      expect((await ready(base)).status).toBe(503);
      expect(await gauges(base)).toEqual({ fleetmend_database_up: 0 });
    } finally {
      await way.close();
    }
  }, 60_000);

  it('of very many is not told of each', async () => {
    for (let n = 0; n < 25; n += 1) await block(`judge:m${n}`, 'billing');
    const { degraded } = await ready();
    expect(Object.keys(degraded).filter((name) => name.startsWith('scoring.judge_blocked:'))).toHaveLength(21);
    expect(degraded['scoring.judge_blocked:others']).toContain('5 more');
    await fixture.db.query('DELETE FROM scoring.provider_blocks');
  });
});

describe('the metrics of a project', () => {
  it('are told as not measured, with the words of the endpoint, for each of very many blocked providers', async () => {
    const names = Array.from({ length: 25 }, (_, at) => `m${at}`);
    const metrics = Object.fromEntries(names.map((name) => [name, { kind: 'webhook', url: 'http://h/x?token=abc' }]));
    const put = await fixture.call('PUT', '/v1/settings', { body: { metrics, tier2_metrics: names } });
    expect(put.status).toBe(200);
    for (const name of names) await block(`webhook:${name}`, 'config');
    const { body } = await fixture.call('GET', '/v1/metrics');
    const told = body.items.filter(({ evaluator }) => evaluator === 'webhook');
    expect(told.map(({ measured }) => measured)).toEqual(names.map(() => false));
    expect(String(told[24]?.['note'])).toContain('in its own words');
    await fixture.db.query('DELETE FROM scoring.provider_blocks');
  });

  it('do not show the token of a webhook where settings are read or journaled, and keep it when what was read comes back', async () => {
    const read = await fixture.call('GET', '/v1/settings');
    expect(read.text).toContain('http://h/x?[redacted]');
    const { metrics } = read.body.settings;
    const again = await fixture.call('PUT', '/v1/settings', { body: { metrics, gate_window: 7 } });
    expect([again.status, again.text.includes('abc')]).toEqual([200, false]);
    const stored = await fixture.db.query<{ doc: string }>('SELECT doc::text FROM edge.settings ORDER BY version DESC LIMIT 1');
    expect(stored[0]?.doc.match(/token=abc/g)).toHaveLength(25);
    const journal = await fixture.db.query<{ doc: string }>(
      "SELECT doc::text FROM journal.events WHERE type = 'settings_changed'",
    );
    expect(journal).toHaveLength(2);
    expect(JSON.stringify(journal)).not.toContain('abc');
    const lost = { metrics: { new: { kind: 'webhook', url: 'http://h/x?[redacted]' } } };
    const { status, body } = await fixture.call('PUT', '/v1/settings', { body: lost });
    expect([status, body.errors.map(({ path }) => path)]).toEqual([422, ['metrics.new.url']]);
  });
});

describe('the gauges of scoring', () => {
  it('are zero while nothing waits', async () => {
    expect(await gauges()).toEqual({
      fleetmend_database_up: 1,
      'fleetmend_providers.blocked': 0,
      'fleetmend_providers.resting': 0,
      ...Object.fromEntries(
        ['judge', 'embedding', 'own', 'verifier'].flatMap((lane) => [
          [`fleetmend_score_jobs.${lane}`, 0],
          [`fleetmend_score_jobs_oldest_seconds.${lane}`, 0],
        ]),
      ),
    });
  });

  it('tell the jobs of each lane, the age of the oldest that is next, and the providers in trouble', async () => {
    await fixture.db.query(
      `INSERT INTO scoring.score_jobs (s, t, tier, provider, lane, project, round, evals, expires_at, asked_at)
       SELECT gen_random_uuid(), 0, 1, provider, lane, project, round, 1, now() + interval '1 day', now() - age
       FROM (VALUES ('judge:m', 'judge', 'default', 0, interval '1 minute'), ('judge:m', 'judge', 'default', 7, '10 minutes'),
         ('judge:m', 'judge', 'other', 0, '5 minutes'), ('judge:z', 'judge', 'zebra', 0, '1 second'),
         ('webhook:tone', 'own', 'default', 0, '1 hour'), ('nobody', 'nobody', 'default', 0, '20 hours')) j(provider, lane, project, round, age)`,
    );
    await block('judge:m', 'unpriced');
    await block('judge:m', 'config', 'other');
    await block('judge:n', 'unavailable');
    const now = await gauges();
    expect(now).toMatchObject({
      ...{ 'fleetmend_score_jobs.judge': 4, 'fleetmend_score_jobs.own': 1, 'fleetmend_score_jobs.embedding': 0 },
      ...{ 'fleetmend_providers.blocked': 2, 'fleetmend_providers.resting': 1 },
    });
    expect(now['fleetmend_score_jobs_oldest_seconds.judge']).toBeCloseTo(600, -2);
    expect(now['fleetmend_score_jobs_oldest_seconds.own']).toBeCloseTo(3_600, -2);
    expect(Object.keys(now).some((name) => name.includes('nobody'))).toBe(false);
  });
});
