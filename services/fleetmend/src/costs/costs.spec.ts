import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Costs, KnownMetric } from '#contracts';
import { ladderSavings } from '#domain/costs';
import { explainError } from '../explain-error.js';
import { createProgram } from '../program.js';
import { costsText } from './text.js';

const sums = (evals: number, calls: number, usd: number, unpriced = 0) => ({
  ...{ evals, calls, tokens_in: calls * 1_000, tokens_out: calls * 10, cost_usd: usd, unpriced_calls: unpriced },
});

const costs: Costs = {
  ...{ since: '2026-11-24', until: '2026-12-01', by: ['metric', 'model'] },
  totals: sums(113, 244, 2.6, 4),
  groups: [
    { metric: 'task_completion', model: 'm', ...sums(100, 200, 2) },
    { metric: 'tool_correctness', model: 'm', ...sums(10, 30, 0.6) },
    { metric: 'tone', model: 'home', ...sums(2, 4, 0, 4) },
  ],
  others: { groups: 3, ...sums(1, 10, 0) },
  turns: { admitted: 100, skipped: { budget: 7, sampling: 3 } },
  budget: {
    ...{ day: '2026-11-30', max_cost_usd: 5, spent_usd: 1.25, reserved_usd: 0.02, max_evals: 200, admitted: 40, skipped: 7 },
    ...{ window_start: 1_790_000_000_000_000, window_end: 1_790_086_400_000_000 },
  },
  ladder: ladderSavings(
    [
      { metric: 'task_completion', tier: 1, evals: 100, calls: 200, cost_usd: 2, unpriced_calls: 0 },
      { metric: 'tool_correctness', tier: 2, evals: 10, calls: 30, cost_usd: 0.6, unpriced_calls: 0 },
      { metric: 'tone', tier: 2, evals: 2, calls: 4, cost_usd: 0, unpriced_calls: 4 },
    ],
    100,
    ['plan_quality'],
  ),
};

describe('costs for people', () => {
  const text = costsText(costs);

  it('tell the period, its groups and what is not shown', () => {
    expect(text).toContain(
      '2026-11-24 to 2026-11-30 (UTC): $2.60 for 244 calls, 244000 tokens in, 2440 out; 4 of them have no price',
    );
    expect(text).toContain('100 turns admitted, skipped: 7 by budget, 3 by sampling');
    expect(text).toMatch(/^task_completion +m +100 +200 +200000 +2000 +\$2.00$/m);
    expect(text).toMatch(/^tone .* no price$/m);
    expect(text).toMatch(/^3 others +1 +10 /m);
  });

  it('tell what the tiers saved, and what is left out of it', () => {
    expect(text).toContain('The tiers saved 66.6 % of the calls and 67.5 % of the dollars');
    expect(text).toMatch(/^tool_correctness +2 +10 +30 +300 +90.0 % +\$0.6000 +\$6.00$/m);
    expect(text).toContain('no model was asked for them: plan_quality.');
    expect(text).toContain('calls have no price: tone.');
  });

  it('tell the budget as it stands', () => {
    expect(text).toContain('Budget of 2026-11-30 (UTC): $1.25 spent, of $5.00, $0.0200 reserved');
    expect(text).toContain('40 of 200 admitted; 7 skipped by it; window 2026-09-21 14:13:20 to 2026-09-22 14:13:20');
  });

  it('say that there is nothing yet, and no limit', () => {
    const none = costsText({
      ...costs,
      ...{
        totals: sums(0, 0, 0),
        groups: [],
        others: null,
        turns: { admitted: 0, skipped: {} },
        ladder: ladderSavings([], 0, []),
      },
      budget: {
        ...costs.budget,
        max_cost_usd: 0,
        max_evals: 0,
        admitted: null,
        skipped: null,
        window_start: null,
        window_end: null,
      },
    });
    expect(none).toContain('no model was called');
    expect(none).toContain('0 turns admitted, none skipped');
    expect(none).toContain('The tiers saved: unknown');
    expect(none).toContain('no limit (max_cost_usd)');
    expect(none).not.toContain('window');
  });

  it('never let a name from outside break a row', () => {
    const odd = costsText({
      ...costs,
      by: ['session'],
      groups: [{ session_id: 'a\u001b[31m\nb', ...sums(1, 1, 0) }],
      others: null,
    });
    expect(odd).toMatch(/^a b +1 +1 /m);
  });
});

describe('the commands', () => {
  let server: Server;
  let asked: string[];
  let reply: { status: number; body: unknown };
  beforeEach(async () => {
    asked = [];
    server = createServer(({ url = '' }, response) => {
      asked.push(url);
      response.writeHead(reply.status, { 'content-type': 'application/json' }).end(JSON.stringify(reply.body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await new Promise((resolve) => server.close(resolve));
  });

  async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    let out = '';
    jest.spyOn(process.stdout, 'write').mockImplementation(((text: string, done?: () => void) => {
      out += text;
      done?.();
      return true;
    }) as typeof process.stdout.write);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      await createProgram('0', () => undefined).parseAsync([...args, '--url', url], { from: 'user' });
      return { code: 0, out, err: '' };
    } catch (error) {
      const { exitCode, message } = explainError(error);
      return { code: exitCode, out, err: message ?? '' };
    }
  }

  it('costs asks for what it is told and prints the answer as JSON', async () => {
    reply = { status: 200, body: costs };
    const { code, out } = await run(
      'costs',
      '--since',
      '2026-11-24',
      '--until',
      '2026-12-01',
      '--by',
      'metric,model',
      '--format',
      'json',
    );
    expect([code, JSON.parse(out)]).toEqual([0, costs]);
    expect(asked).toEqual(['/v1/costs?since=2026-11-24&until=2026-12-01&by=metric%2Cmodel']);
    expect((await run('costs', '--format', 'pretty')).out).toContain('The tiers saved');
    expect(asked.at(-1)).toBe('/v1/costs');
  });

  it('costs says in the words of the gateway what is wrong with a question', async () => {
    reply = { status: 422, body: { detail: 'query.by: user: not known; known are day, metric, tier, model, session' } };
    expect(await run('costs', '--by', 'user')).toMatchObject({ code: 2, out: '', err: expect.stringContaining('known are day') });
  });

  it('metrics list shows who measures what, and why where nobody does', async () => {
    const metric: KnownMetric = {
      ...{
        metric: 'task_completion',
        registered: false,
        tiers: [1],
        evaluator: 'judge',
        host_first: true,
        source: 'judge',
        model: 'm',
      },
      ...{ threshold: 0.5, breaches: false, measured: true, note: null },
      gate: { gate_window: 5, gate_target: 0.5, gate_gain: 0.02, gate_drop: 0.15, may_fire: true },
    };
    const tone = {
      ...metric,
      metric: 'tone',
      registered: true,
      tiers: [2],
      breaches: true,
      host_first: false,
      model: null,
      gate: null,
    };
    reply = {
      status: 200,
      body: { items: [metric, { ...tone, evaluator: null, measured: false, note: 'judge_model is not set' }] },
    };
    const { out } = await run('metrics', 'list', '--format', 'pretty');
    expect(out).toMatch(
      /^task_completion +1 +yes +host, else judge m +judge +0.5 \(shown\) +window 5, target 0.5, gain 0.02, drop 0.15$/m,
    );
    expect(out).toMatch(/^tone \(own\) +2 +no +nobody +judge +0.5 +judge_model is not set$/m);
    expect(asked).toEqual(['/v1/metrics']);
    expect(JSON.parse((await run('metrics', 'list', '--format', 'json')).out)).toEqual(reply.body);
  });
});
