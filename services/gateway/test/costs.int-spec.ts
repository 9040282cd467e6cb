import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Costs } from '#contracts';
import { sessionKey } from '#domain/ids';
import { openGateway, type Fixture } from './fixture.js';
import { insertKey, insertSession } from './rows.js';

let fixture: Fixture;

const DAY_MS = 86_400_000;
/** `back` UTC days before today. */
const day = (back: number): string => new Date(Date.now() - back * DAY_MS).toISOString().slice(0, 10);

interface Usage {
  readonly back?: number;
  readonly metric: string;
  readonly tier: number;
  readonly session?: string;
  readonly model?: string;
  readonly evals: number;
  readonly calls: number;
  readonly usd: number;
  readonly unpriced?: number;
  readonly project?: string;
}

async function insertUsage({
  back = 1,
  session = 'a',
  model = 'm',
  unpriced = 0,
  project = 'default',
  ...row
}: Usage): Promise<void> {
  await fixture.db.query(
    `INSERT INTO scoring.usage (project, day, metric, tier, model, s, evals, calls, tokens_in, tokens_out, cost_usd, unpriced_calls)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8 * 1000, $8 * 10, $9, $10)`,
    [project, day(back), row.metric, row.tier, model, sessionKey(project, session), row.evals, row.calls, row.usd, unpriced],
  );
}

async function insertTurns(count: number, skipped: string | null, back: number, project = 'default'): Promise<void> {
  await fixture.db.query(
    `INSERT INTO scoring.turns (s, t, project, accepted_us, body_sha, config, skipped)
     SELECT gen_random_uuid(), 0, $1, $2::bigint + n, '\\x00', 'c', $3 FROM generate_series(1, $4::int) n`,
    [project, Date.parse(day(back)) * 1_000, skipped, count],
  );
}

beforeAll(async () => {
  fixture = await openGateway({
    max_cost_usd: 10,
    max_evals: 500,
    budget_window_h: 2,
    model_prices: { m: { input: 1 } },
    judge_model: 'm',
  });
  const { db } = fixture;
  await db.query("INSERT INTO edge.projects (project) VALUES ('other')");
  await insertSession(db, 'a');
  await insertUsage({ metric: 'task_completion', tier: 1, evals: 10, calls: 20, usd: 0.2 });
  await insertUsage({ metric: 'task_completion', tier: 1, session: 'b', evals: 10, calls: 20, usd: 0.4, back: 2 });
  await insertUsage({ metric: 'tool_correctness', tier: 2, evals: 2, calls: 6, usd: 0.6, back: 6 });
  await insertUsage({ metric: 'tone', tier: 2, evals: 1, calls: 1, usd: 0, unpriced: 1, model: 'home', back: 0 });
  await insertUsage({ metric: 'task_completion', tier: 1, evals: 99, calls: 99, usd: 99, back: 7 });
  await insertUsage({ metric: 'foreign', tier: 1, evals: 1, calls: 1, usd: 1, project: 'other' });
  await insertTurns(20, null, 1);
  await insertTurns(3, 'sampling', 0);
  await insertTurns(2, 'budget', 6);
  await insertTurns(50, null, 7);
  await insertTurns(7, null, 1, 'other');
}, 60_000);

afterAll(async () => {
  await fixture.close();
}, 30_000);

async function read(query = ''): Promise<Costs> {
  const { status, body } = await fixture.call('GET', `/v1/costs${query}`);
  expect(status).toBe(200);
  return body as unknown as Costs;
}

describe('GET /v1/costs', () => {
  it('sums the last seven days, today included, by metric, tier and model, costliest first', async () => {
    const { since, until, by, totals, groups, others } = await read();
    expect([since, until, by]).toEqual([day(6), day(-1), ['metric', 'tier', 'model']]);
    expect(groups).toEqual([
      {
        metric: 'task_completion',
        tier: 1,
        model: 'm',
        evals: 20,
        calls: 40,
        tokens_in: 40_000,
        tokens_out: 400,
        cost_usd: expect.closeTo(0.6),
        unpriced_calls: 0,
      },
      {
        metric: 'tool_correctness',
        tier: 2,
        model: 'm',
        evals: 2,
        calls: 6,
        tokens_in: 6_000,
        tokens_out: 60,
        cost_usd: 0.6,
        unpriced_calls: 0,
      },
      {
        metric: 'tone',
        tier: 2,
        model: 'home',
        evals: 1,
        calls: 1,
        tokens_in: 1_000,
        tokens_out: 10,
        cost_usd: 0,
        unpriced_calls: 1,
      },
    ]);
    expect(totals).toEqual({
      evals: 23,
      calls: 47,
      tokens_in: 47_000,
      tokens_out: 470,
      cost_usd: expect.closeTo(1.2),
      unpriced_calls: 1,
    });
    expect(others).toBeNull();
  });

  it('counts the turns of the period, and says what the tiers saved', async () => {
    const { turns, ladder } = await read();
    expect(turns).toEqual({ admitted: 20, skipped: { budget: 2, sampling: 3 } });
    expect(ladder).toMatchObject({ admitted_turns: 20, calls: 47, everywhere_calls: 120, unpriced: ['tone'] });
    expect(ladder.saved_calls).toBeCloseTo(1 - 47 / 120);
    expect(ladder.saved_usd).toBeCloseTo(1 - 1.2 / 6.6);
    expect(ladder.unmeasured).toEqual(['argument_correctness', 'coherence', 'plan_adherence', 'plan_quality', 'step_efficiency']);
  });

  it('groups by whatever is asked for, a session by its own id', async () => {
    const { groups } = await read('?by=session,%20day,session');
    expect(groups.map(({ session_id: session, day: on, calls }) => [session, on, calls])).toEqual([
      ['a', day(6), 6],
      [null, day(2), 20],
      ['a', day(1), 20],
      ['a', day(0), 1],
    ]);
    expect((await read('?by=tier')).groups.map(({ tier, calls }) => [tier, calls])).toEqual([
      [1, 40],
      [2, 7],
    ]);
  });

  it('takes whole days: from that of since to the last that begins before until', async () => {
    const { since, until, totals, turns } = await read(`?since=${day(7)}T23:59:59Z&until=${day(6)}`);
    expect([since, until, totals.calls, turns.admitted]).toEqual([day(7), day(6), 99, 50]);
    expect(await read(`?since=${day(1)}&until=${day(0)}T00:00:01Z`)).toMatchObject({ since: day(1), until: day(-1) });
    expect(await read(`?until=${day(3)}`)).toMatchObject({ since: day(10), until: day(3) });
  });

  it('shows the 200 costliest groups and sums the others', async () => {
    await fixture.db.query(
      `INSERT INTO scoring.usage (project, day, metric, tier, model, s, evals, calls, tokens_in, tokens_out, cost_usd, unpriced_calls)
       SELECT 'default', $1, 'm' || n, 1, 'm', gen_random_uuid(), 1, 2, 10000000000, 4, n, 0 FROM generate_series(1, 250) n`,
      [day(30)],
    );
    const { groups, others, totals } = await read(`?by=metric&since=${day(30)}&until=${day(29)}`);
    expect([groups.length, groups[0]?.metric, groups.at(-1)?.metric]).toEqual([200, 'm250', 'm51']);
    expect(others).toEqual({
      ...{
        groups: 50,
        evals: 50,
        calls: 100,
        tokens_in: 500_000_000_000,
        tokens_out: 200,
        cost_usd: (50 * 51) / 2,
        unpriced_calls: 0,
      },
    });
    expect(totals).toMatchObject({ evals: 250, cost_usd: (250 * 251) / 2 });
  });

  it.each<[string, number, RegExp]>([
    ['?by=metric,sesion,user', 422, /sesion, user: not known; known are day, metric, tier, model, session/],
    ['?by=', 422, /names nothing; known are day/],
    ['?by=,', 422, /names nothing/],
    ['?since=yesterday', 422, /since: is no time/],
    ['?since=2026-02-30', 422, /no day of the calendar/],
    ['?since=2026-13-01', 422, /no day of the calendar/],
    ['?since=2026-11-02&until=2026-11-02', 422, /not before until/],
    ['?since=2026-01-01&until=2026-06-01', 422, /more than 92 days/],
    ['?group=day', 422, /group/],
  ])('answers %s with %d and what to do', async (query, status, detail) => {
    const answer = await fixture.call('GET', `/v1/costs${query}`);
    expect([answer.status, answer.body.detail]).toEqual([status, expect.stringMatching(detail)]);
  });
});

describe('the budget', () => {
  it('is what the settings allow while nothing was spent', async () => {
    expect((await read()).budget).toEqual({
      ...{ day: day(0), max_cost_usd: 10, spent_usd: 0, reserved_usd: 0, max_evals: 500 },
      ...{ admitted: null, skipped: null, window_start: null, window_end: null },
    });
  });

  it('is what was spent today, what jobs in hand reserve, and the window that is open', async () => {
    const { db } = fixture;
    await db.query("INSERT INTO scoring.spend VALUES ('default', $1, 1.5), ('default', $2, 70), ('other', $1, 80)", [
      day(0),
      day(1),
    ]);
    await db.query(
      `INSERT INTO scoring.score_jobs (s, t, tier, provider, lane, project, round, evals, expires_at, reserved_usd, leased_until)
       SELECT gen_random_uuid(), 0, 1, 'judge:m', 'judge', project, 0, 1, now() + interval '1 day', usd, now() + lease
       FROM (VALUES ('default', 0.25, interval '1 minute'), ('default', 0.5, '1 minute'), ('default', 4, '-1 second'), ('other', 8, '1 minute')) j(project, usd, lease)`,
    );
    await db.query("INSERT INTO scoring.budgets VALUES ('default', now() - interval '1 hour', 40, 3)");
    const { budget } = await read();
    expect(budget).toMatchObject({ spent_usd: 1.5, reserved_usd: 0.75, admitted: 40, skipped: 3 });
    expect((budget.window_end ?? 0) - (budget.window_start ?? 0)).toBe(2 * 3_600_000_000);
  });

  it('has no window once its hours are over', async () => {
    await fixture.db.query("UPDATE scoring.budgets SET window_from = now() - interval '2 hours'");
    expect((await read()).budget).toMatchObject({ admitted: null, skipped: null, window_start: null, window_end: null });
  });
});

describe('GET /v1/metrics', () => {
  it('tells who measures what with the settings in force, and that a provider is blocked', async () => {
    const list = async () => (await fixture.call('GET', '/v1/metrics')).body.items;
    const find = async (metric: string) => (await list()).find((item) => item['metric'] === metric);
    expect(await find('task_completion')).toMatchObject({
      evaluator: 'judge',
      model: 'm',
      measured: true,
      gate: { gate_window: 5 },
    });
    await fixture.db.query(
      `INSERT INTO scoring.provider_blocks (project, provider, code, detail, probe_at)
       VALUES ('default', 'judge:m', 'billing', 'no credit', now()), ('other', 'judge:m', 'auth', 'of another', now())`,
    );
    expect(await find('task_completion')).toMatchObject({
      measured: false,
      note: expect.stringMatching(/judge:m is blocked.*no credit.*top up/),
    });
    await fixture.call('PUT', '/v1/settings', { body: { evaluators: { task_completion: 'check' }, gate_window: 9 } });
    expect(await find('task_completion')).toMatchObject({
      evaluator: 'check',
      model: null,
      measured: true,
      gate: { gate_window: 9 },
    });
  });
});

// Last: once a key exists, every call needs one.
it.each(['/v1/costs', '/v1/metrics'])('%s needs the scope observe, and shows only the project of the key', async (path) => {
  const { db } = fixture;
  await insertKey(db, `fm_other_reader${path}`, ['observe'], { project: 'other' });
  await insertKey(db, `fm_other_agent${path}`, ['ingest'], { project: 'other' });
  const guarded = await fixture.another();
  const ask = async (key?: string) => fixture.call('GET', path, { base: guarded.url, key });
  expect((await ask()).status).toBe(401);
  expect((await ask(`fm_other_agent${path}`)).status).toBe(403);
  const { status, text } = await ask(`fm_other_reader${path}`);
  expect([status, text.includes('foreign'), text.includes('tone')]).toEqual([200, path === '/v1/costs', false]);
});
