import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ladderSavings, type MetricSpending } from './ladder.js';

const spending = (metric: string, tier: number, evals: number, more: Partial<MetricSpending> = {}): MetricSpending => ({
  ...{ metric, tier, evals, calls: evals, cost_usd: evals * 0.01, unpriced_calls: 0 },
  ...more,
});

describe('what the ladder saved', () => {
  it('is the turns on which a costly metric did not run, weighed by what it costs', () => {
    const ladder = ladderSavings(
      [
        spending('task_completion', 1, 100, { calls: 200, cost_usd: 2 }),
        spending('tool_correctness', 2, 10, { calls: 30, cost_usd: 0.6 }),
        spending('plan_quality', 3, 2, { calls: 4, cost_usd: 0.1 }),
      ],
      100,
      [],
    );
    expect(ladder.metrics.map(({ metric, everywhere_calls: calls, saved_calls: saved }) => [metric, calls, saved])).toEqual([
      ['task_completion', 200, 0],
      ['tool_correctness', 300, 0.9],
      ['plan_quality', 200, 0.98],
    ]);
    expect([ladder.calls, ladder.everywhere_calls]).toEqual([234, 700]);
    expect(ladder.saved_calls).toBeCloseTo(1 - 234 / 700);
    expect(ladder.everywhere_usd).toBeCloseTo(2 + 6 + 5);
    expect(ladder.saved_usd).toBeCloseTo(1 - 2.7 / 13);
    expect(ladder.metrics[1]).toMatchObject({ evals: 10, mean_calls: 3, mean_usd: 0.06, tiers: [2] });
  });

  it('of a metric of tier 1 is nothing, however many of its values are still to come', () => {
    expect(ladderSavings([spending('task_completion', 1, 3)], 1_000, [])).toMatchObject({ everywhere_calls: 3, saved_calls: 0 });
  });

  it('of a metric that moved between tiers counts its mean over both once', () => {
    const ladder = ladderSavings([spending('coherence', 1, 5), spending('coherence', 2, 5, { calls: 15 })], 40, []);
    expect(ladder.metrics).toMatchObject([{ tiers: [1, 2], evals: 10, calls: 20, mean_calls: 2, everywhere_calls: 80 }]);
  });

  it('is nothing, not less, where there were more evaluations than admitted turns', () => {
    expect(ladderSavings([spending('tool_correctness', 2, 9)], 3, [])).toMatchObject({ everywhere_calls: 9, saved_calls: 0 });
    expect(ladderSavings([spending('tool_correctness', 2, 9)], 0, [])).toMatchObject({ everywhere_calls: 9, saved_calls: 0 });
  });

  it('leaves metrics without a price out of the dollars, and names them', () => {
    const ladder = ladderSavings([spending('a', 2, 10), spending('b', 2, 10, { cost_usd: 5, unpriced_calls: 1 })], 20, []);
    expect(ladder).toMatchObject({ calls: 20, everywhere_calls: 40, unpriced: ['b'], saved_usd: 0.5 });
    expect(ladder.cost_usd).toBeCloseTo(0.1);
    expect(ladder.metrics.find(({ metric }) => metric === 'b')).toMatchObject({
      ...{ cost_usd: null, mean_usd: null, everywhere_usd: null, saved_usd: null, saved_calls: 0.5 },
    });
  });

  it('leaves metrics that were never evaluated out, and names them', () => {
    const ladder = ladderSavings([spending('a', 2, 1), spending('b', 2, 0)], 2, ['c', 'a', 'b', 'c']);
    expect([ladder.unmeasured, ladder.metrics.length, ladder.everywhere_calls]).toEqual([['b', 'c'], 1, 2]);
  });

  it('is unknown while nothing was asked', () => {
    expect(ladderSavings([], 10, ['a'])).toMatchObject({ calls: 0, saved_calls: null, saved_usd: null, unmeasured: ['a'] });
  });

  it('in dollars is unknown where everything was free', () => {
    expect(ladderSavings([spending('a', 2, 1, { cost_usd: 0 })], 10, [])).toMatchObject({ saved_calls: 0.9, saved_usd: null });
  });
});

describe('for any ledger', () => {
  const anySpending = fc.record({
    metric: fc.constantFrom('a', 'b', 'c', 'd'),
    tier: fc.integer({ min: 0, max: 3 }),
    evals: fc.integer({ min: 0, max: 10_000 }),
    calls: fc.integer({ min: 1, max: 100_000 }),
    cost_usd: fc.integer({ min: 0, max: 100_000_000 }).map((micros) => micros / 1e6),
    unpriced_calls: fc.constantFrom(0, 0, 0, 7),
  });
  const ledger = fc.array(anySpending, { maxLength: 12 });
  const turns = fc.integer({ min: 0, max: 1_000_000 });

  it('shares are from 0 to 1, and running everything never costs less than what was run', () => {
    fc.assert(
      fc.property(ledger, turns, (spendings, admitted) => {
        const ladder = ladderSavings(spendings, admitted, []);
        for (const { saved_calls: calls, saved_usd: usd } of [ladder, ...ladder.metrics])
          for (const share of [calls, usd]) if (share !== null) expect(share >= 0 && share <= 1).toBe(true);
        expect(ladder.everywhere_calls).toBeGreaterThanOrEqual(ladder.calls);
        expect(ladder.everywhere_usd).toBeGreaterThanOrEqual(ladder.cost_usd);
      }),
    );
  });

  it('every metric is counted or named, never both', () => {
    fc.assert(
      fc.property(ledger, turns, (spendings, admitted) => {
        const { metrics, unmeasured } = ladderSavings(spendings, admitted, ['a', 'b', 'c', 'd']);
        expect([...metrics.map(({ metric }) => metric), ...unmeasured].sort()).toEqual(['a', 'b', 'c', 'd']);
      }),
    );
  });

  it('the order and the splitting of its rows change nothing', () => {
    fc.assert(
      fc.property(ledger, turns, (spendings, admitted) => {
        const halves = spendings.flatMap((one) => {
          const half = { ...one, evals: one.evals / 2, calls: one.calls / 2, cost_usd: one.cost_usd / 2 };
          return [half, { ...half, unpriced_calls: 0 }];
        });
        const [whole, split] = [spendings, halves.reverse()].map((rows) => ladderSavings(rows, admitted, []));
        expect(split?.metrics.map(({ metric }) => metric).sort()).toEqual(whole?.metrics.map(({ metric }) => metric).sort());
        expect(split?.saved_calls ?? -1).toBeCloseTo(whole?.saved_calls ?? -1, 9);
        expect(split?.saved_usd ?? -1).toBeCloseTo(whole?.saved_usd ?? -1, 9);
      }),
    );
  });

  it('more turns never save less', () => {
    fc.assert(
      fc.property(ledger, turns, turns, (spendings, some, more) => {
        const [few, many] = [some, some + more].map((admitted) => ladderSavings(spendings, admitted, []).saved_calls);
        expect(many ?? 0).toBeGreaterThanOrEqual((few ?? 0) - 1e-12);
      }),
    );
  });
});
