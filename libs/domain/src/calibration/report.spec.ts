import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { calibrate, histogramOf, recommendThreshold, SWEEP_THRESHOLDS, type CalibrationInput } from './report.js';

type Scores = Record<string, Record<string, number>>;
const input = (scores: Scores, labels: Record<string, boolean> | null = null, targetPrecision = 0.9): CalibrationInput => ({
  scores: new Map(Object.entries(scores).map(([session, own]) => [session, new Map(Object.entries(own))])),
  labels: labels === null ? null : new Map(Object.entries(labels)),
  thresholdOf: () => 0.5,
  targetPrecision,
  sources: [],
});
const only = (scores: Scores, labels: Record<string, boolean> | null = null) => calibrate(input(scores, labels)).metrics[0];

describe('calibrate', () => {
  it('counts the confusion at the threshold in force', () => {
    const scores = { a: { m: 0.2 }, b: { m: 0.3 }, c: { m: 0.7 }, d: { m: 0.8 } };
    expect(only(scores, { a: true, b: false, c: true, d: false })?.labeled).toMatchObject({
      ...{ labeled_sessions: 4, tp: 1, fp: 1, tn: 1, fn: 1, precision: 0.5, recall: 0.5, f1: 0.5 },
    });
  });

  it('finds the lowest of the best F1 thresholds, and the lowest that reaches the target precision', () => {
    const scores = { a: { m: 0.3 }, b: { m: 0.4 }, c: { m: 0.6 }, d: { m: 0.9 } };
    expect(only(scores, { a: true, b: true, c: false, d: false })?.labeled).toMatchObject({
      ...{ best_f1: 1, best_f1_threshold: 0.45, target_precision: 0.9, target_precision_threshold: 0.35 },
    });
  });

  it('describes scores without labels, and then gives no precision', () => {
    const report = calibrate(input({ a: { m: 0, n: 0.1 }, b: { m: 1, n: 0.9 }, c: { m: 0.4, n: 0.9 }, d: { m: 0.5 } }));
    expect(report.metrics[0]).toMatchObject({
      ...{ count: 4, minimum: 0, maximum: 1, median: 0.45, histogram: [1, 0, 0, 0, 1, 1, 0, 0, 0, 1], labeled: null },
    });
    expect(report.metrics[0]?.sweep.flatMap(({ precision, recall, f1 }) => [precision, recall, f1])).toEqual(
      Array(57).fill(null),
    );
    expect(report.agreement).toBe(2 / 3);
  });

  it('answers nothing with an empty report, and one value without a standard deviation', () => {
    expect(calibrate(input({}))).toEqual({ sources: [], session_count: 0, metrics: [], agreement: null });
    expect(only({ a: { m: 0.5 } })).toMatchObject({ count: 1, mean: 0.5, stdev: null });
  });

  it('has no target threshold without a true positive, even for a target of 0', () => {
    expect(calibrate(input({ a: { m: 0.1 } }, { a: false }, 0)).metrics[0]?.labeled?.target_precision_threshold).toBeNull();
  });

  it('takes a session named like a member of Object for a session', () => {
    const scores = new Map([['__proto__', new Map([['constructor', 0.2]])]]);
    const report = calibrate({ ...input({}), scores, labels: new Map([['__proto__', true]]) });
    expect(report.metrics[0]).toMatchObject({ metric: 'constructor', labeled: { tp: 1 } });
  });
});

describe('recommendThreshold', () => {
  const recommended = (scores: Scores, labels: Record<string, boolean>, target: number) => {
    const [metric] = calibrate(input(scores, labels, target)).metrics;
    return metric === undefined ? undefined : recommendThreshold(metric);
  };
  const scores = { a: { m: 0.02 }, b: { m: 0.3 }, c: { m: 0.42 }, d: { m: 0.6 }, e: { m: 0.9 } };
  const labels = { a: true, b: true, c: false, d: true, e: false };

  it('takes the most recall among those that reach the target, and of those the lowest', () => {
    expect(recommended(scores, labels, 0.9)).toMatchObject({ threshold: 0.35, tp: 2, fp: 0 });
    expect(recommended(scores, labels, 0.75)).toMatchObject({ threshold: 0.65, tp: 3, fp: 1 });
  });

  it('recommends none when none reaches the target, or nothing is labelled', () => {
    expect(recommended({ a: { m: 0.5 } }, { a: false }, 0)).toBeNull();
    expect(recommended({ a: { m: 0.5 } }, { other: true }, 0.5)).toBeNull();
  });
});

const finite = fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ noNaN: true, noDefaultInfinity: true }));
const anyScores = fc.dictionary(fc.string(), fc.dictionary(fc.constantFrom('m', 'n', '__proto__'), finite), { maxKeys: 20 });
const anyLabels = fc.option(fc.dictionary(fc.string(), fc.boolean()));

describe('calibrate, for any finite scores', () => {
  it('never throws, counts every value once, and breaches more the higher the threshold', () => {
    fc.assert(
      fc.property(anyScores, anyLabels, fc.double({ min: 0, max: 1, noNaN: true }), (scores, labels, target) => {
        for (const { count, histogram, sweep, labeled } of calibrate(input(scores, labels, target)).metrics) {
          expect(histogram.reduce((sum, one) => sum + one, 0)).toBe(count);
          expect(sweep.map(({ threshold }) => threshold)).toEqual(SWEEP_THRESHOLDS);
          for (const [at, point] of sweep.entries()) {
            const before = sweep[at - 1] ?? { breach_count: 0, tp: 0, fp: 0 };
            expect(point.breach_count).toBeGreaterThanOrEqual(before.breach_count);
            expect(point.tp).toBeGreaterThanOrEqual(before.tp);
            expect(point.fp).toBeGreaterThanOrEqual(before.fp);
            expect(point.tp + point.fp + point.tn + point.fn).toBe(labeled?.labeled_sessions ?? 0);
          }
        }
      }),
    );
  });
});

it('histogramOf puts 1 into the last bucket, and what lies outside into the nearest', () => {
  expect(histogramOf([0, 0.1, 0.3, 0.9999, 1, -5, 7])).toEqual([2, 1, 0, 1, 0, 0, 0, 0, 0, 3]);
});
