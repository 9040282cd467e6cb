import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hasImproved, hasRegressed, regressionStatus } from './margins.js';
import { answeredMetrics, inFamily, targetSignatures } from './signatures.js';

const margins = { rule_promote_margin: 0.05, rule_regress_margin: 0.05 };

describe('margins', () => {
  it('compare raw doubles', () => {
    expect([0.35 - 0.3, 0.55 - 0.5].map((delta) => hasImproved(delta, 0.05))).toEqual([false, true]);
    expect([0.3 - 0.35, 0.5 - 0.55].map((delta) => hasRegressed(delta, 0.05))).toEqual([false, true]);
  });

  it('of 0 call an unchanged score neither better nor worse', () => {
    expect([hasImproved(0, 0), hasRegressed(0, 0), hasRegressed(-0, 0)]).toEqual([false, false, false]);
  });

  it('never call one change both', () => {
    const value = fc.double({ min: -1, max: 1, noNaN: true });
    fc.assert(
      fc.property(value, value, (delta, margin) => {
        expect(hasImproved(delta, margin) && hasRegressed(delta, margin)).toBe(false);
      }),
    );
  });
});

describe('a case of a regression run', () => {
  it.each<[Record<string, number>, string]>([
    [{}, 'unchanged'],
    [{ a: 0.62 }, 'improved'],
    [{ a: 0.049, b: -0.049 }, 'unchanged'],
    [{ a: 0.9, b: -0.05 }, 'regressed'],
  ])('with the changes %j is %s', (deltas, status) => {
    expect(regressionStatus(deltas, margins)).toBe(status);
  });
});

describe('what a rule is meant for', () => {
  it('are its signature tags in order, then every condition on its metric, once each', () => {
    expect(targetSignatures({ metric: 'coherence', tags: ['billing', 'stall:coherence', 'breach:tool_correctness'] })).toEqual([
      ...['stall:coherence', 'breach:tool_correctness', 'breach:coherence', 'regression:coherence'],
    ]);
    expect(targetSignatures({ metric: null, tags: ['billing', 'a:b'] })).toEqual([]);
  });

  it('answers for the outcome, its metric and the metrics of its signature tags', () => {
    expect(answeredMetrics({ metric: 'coherence', tags: ['stall:task_completion', 'x'] })).toEqual([
      ...['coherence', 'outcome_correct', 'task_completion'],
    ]);
  });

  it('is a family by the whole name of the metric', () => {
    expect(inFamily('breach:tool_correctness', 'correctness')).toBe(false);
    expect(inFamily('correctness', 'correctness')).toBe(false);
    expect([inFamily('breach:x', 'x'), inFamily('anything', null)]).toEqual([true, true]);
  });
});
