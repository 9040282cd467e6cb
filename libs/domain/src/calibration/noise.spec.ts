import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { replayGate, gateDefaults } from '../gate/index.js';
import { DROP_MULTIPLE, judgeNoise } from './noise.js';

describe('judgeNoise', () => {
  it('pools the deviations of traces, and counts those whose verdict flips', () => {
    const noise = judgeNoise([
      { values: [0.4, 0.6], threshold: 0.5 },
      { values: [0.8, 0.8, 0.8], threshold: 0.5 },
      { values: [0.9], threshold: 0.5 },
    ]);
    // Squares 0.02 over 1 + 2 degrees of freedom.
    const deviation = Math.sqrt(0.02 / 3);
    expect(noise).toMatchObject({ traces: 2, values: 5, flip_share: 0.5 });
    expect(noise?.standard_deviation).toBeCloseTo(deviation, 12);
    expect(noise?.largest_range).toBeCloseTo(0.2, 12);
    expect(noise?.median_range).toBeCloseTo(0.1, 12);
    expect(noise?.suggested_gate_drop).toBeCloseTo(DROP_MULTIPLE * deviation, 12);
  });

  it('says nothing when no trace was judged twice', () => {
    expect(judgeNoise([])).toBeNull();
    expect(judgeNoise([{ values: [0.3], threshold: 0.5 }])).toBeNull();
  });

  it('finds no noise and no flip in an evaluator that repeats itself, and never suggests more than 1', () => {
    const unit = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.array(unit, { minLength: 2 }), unit, (values, threshold) => {
        const same = judgeNoise([{ values: values.map(() => values[0] ?? 0), threshold }]);
        expect([same?.largest_range, same?.flip_share]).toEqual([0, 0]);
        const noise = judgeNoise([{ values, threshold }], 100);
        expect(noise?.suggested_gate_drop).toBeLessThanOrEqual(1);
        expect(noise?.largest_range).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('suggests a drop that noise alone crosses in fewer than 1 of 50 sessions of ten turns', () => {
    const normal = normals(7);
    const session = () => Array.from({ length: 10 }, () => 0.7 + 0.04 * normal());
    const noise = judgeNoise(Array.from({ length: 200 }, () => ({ values: session().slice(0, 3), threshold: 0.5 })));
    const config = { ...gateDefaults, gate_drop: noise?.suggested_gate_drop ?? 0 };
    const fired = Array.from({ length: 2_000 }, session).filter((values) =>
      replayGate({ values, config }).verdicts.some(({ regressed }) => regressed),
    );
    expect(noise?.standard_deviation).toBeCloseTo(0.04, 2);
    expect(fired.length / 2_000).toBeLessThan(1 / 50);
  });
});

/** Standard normal numbers that depend on the seed alone (a linear congruential generator, then Box and Muller). */
function normals(seed: number): () => number {
  let state = seed;
  const uniform = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}
