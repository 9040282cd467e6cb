import { describe, expect, it } from '@jest/globals';
import { trialDefaults } from './decision.js';
import { simulate, type LiveScenario, type PairsScenario } from './simulate.js';

const common = {
  runs: 2000,
  seed: 1,
  method: 'evidence',
  settings: { ...trialDefaults, trial_max_sessions: 400 },
  margins: { rule_promote_margin: 0.05, rule_regress_margin: 0.05 },
} as const;

const live = (baseRate: number, effect: number, more: Partial<LiveScenario> = {}) =>
  simulate({
    ...{ kind: 'live', ...common, baseRate, lastBaseRate: baseRate, effect, allocation: 0.5 },
    ...{ beforeRate: baseRate, minSessions: 5, ...more },
  });
const pairs = (effect: number, deviation: number, more: Partial<PairsScenario> = {}) =>
  simulate({ kind: 'pairs', ...common, baseScore: 0.4, effect, deviation, maxPairs: 20, ...more });

/** The share that may be promoted of candidates that do nothing: alpha, and three standard errors of the sample. */
const atMost = (alpha: number, runs: number) => alpha + 3 * Math.sqrt((alpha * (1 - alpha)) / runs);

/** Minutes, on a machine that is busy with other things; seconds otherwise. */
const PATIENCE_MS = 240_000;

// 2,000 candidates a row, each looked at after every observation. Longer runs: `fleetmend trial simulate`; their numbers: docs/evidence.md.
describe('of rules that do nothing', () => {
  it.each<[string, number, Partial<LiveScenario>]>([
    ['in a fleet that seldom breaches', 0.1, {}],
    ['in a fleet that often does', 0.5, {}],
    ['in a fleet that nearly always does', 0.9, {}],
    ['while the breach rate drifts', 0.3, { lastBaseRate: 0.7 }],
    ['with one small arm', 0.5, { allocation: 0.9 }],
    ['with looks at 10,000 sessions', 0.5, { runs: 200, settings: { ...trialDefaults, trial_max_sessions: 10_000 } }],
  ])(
    'at most 5 %% are promoted, and at most 5 %% called harmful, %s',
    (_, baseRate, more) => {
      const { promoted, harmful } = live(baseRate, 0, more);
      expect(promoted).toBeGreaterThan(0);
      expect(Math.max(promoted, harmful)).toBeLessThanOrEqual(atMost(0.05, more.runs ?? common.runs));
    },
    PATIENCE_MS,
  );

  it.each([0.05, 0.18])(
    'at most 5 % are promoted by pairs whose runs deviate by %p',
    (deviation) => {
      const { promoted, harmful } = pairs(0, deviation);
      expect(Math.max(promoted, harmful)).toBeLessThanOrEqual(atMost(0.05, 2000));
    },
    PATIENCE_MS,
  );

  it('method threshold promotes half and more, even when it knows the rate before exactly', () => {
    expect(live(0.5, 0, { method: 'threshold' }).promoted).toBeGreaterThan(0.45);
    expect(live(0.5, 0, { method: 'threshold', beforeRate: 1 }).promoted).toBeGreaterThan(0.95);
    expect(pairs(0, 0.1, { method: 'threshold' }).promoted).toBeGreaterThan(0.3);
  });
});

describe('of rules that matter', () => {
  it.each<[number, number, { promoted: number; median: number }]>([
    [0.5, 0.25, { promoted: 0.98, median: 100 }],
    [0.3, 0.15, { promoted: 0.78, median: 180 }],
    [0.9, 0.8, { promoted: 0.999, median: 14 }],
  ])(
    'at a breach rate of %p, less %p, enough are promoted soon enough',
    (baseRate, effect, bound) => {
      const { promoted, needed } = live(baseRate, effect);
      expect(promoted).toBeGreaterThanOrEqual(bound.promoted);
      expect(needed?.median).toBeLessThanOrEqual(bound.median);
    },
    PATIENCE_MS,
  );

  it(
    'those that harm are retired as harmful, and hardly ever promoted',
    () => {
      const { promoted, harmful } = live(0.5, -0.25);
      expect(harmful).toBeGreaterThanOrEqual(0.97);
      expect(promoted).toBeLessThanOrEqual(0.005);
    },
    PATIENCE_MS,
  );

  it.each([
    [0.2, 0.1, { promoted: 0.99, median: 6 }],
    [0.3, 0.18, { promoted: 0.95, median: 7 }],
  ])(
    'replays that gain %p, with runs that deviate by %p, promote within a few pairs',
    (effect, deviation, bound) => {
      const { promoted, needed } = pairs(effect, deviation);
      expect(promoted).toBeGreaterThanOrEqual(bound.promoted);
      expect(needed?.median).toBeLessThanOrEqual(bound.median);
    },
    PATIENCE_MS,
  );
});

describe('a simulation', () => {
  it('is the same for the same seed, and its shares add up to 1', () => {
    const of = (seed: number) => live(0.5, 0.25, { runs: 50, seed });
    expect(of(3)).toEqual(of(3));
    expect(of(3)).not.toEqual(of(4));
    const { promoted, harmful, unproven } = of(3);
    expect(promoted + harmful + unproven).toBeCloseTo(1, 12);
  });
});
