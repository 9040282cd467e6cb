import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { embeddingCoherence } from './coherence-embedding.js';

describe('embedding coherence', () => {
  it.each<[number[], number[], number]>([
    [[1, 0], [2, 0], 1],
    [[1, 0], [0, 3], 0],
    [[3, 4], [4, 3], 0.96],
    [[1, 0], [-1, 0], 0],
  ])('of %j and %j is %d', (request, answer, value) => {
    expect(embeddingCoherence(request, answer)).toBeCloseTo(value, 12);
  });

  it.each<[number[], number[]]>([
    [[1], [1, 0]],
    [
      [0, 0],
      [1, 0],
    ],
    [
      [1, Number.NaN],
      [1, 0],
    ],
    [[], []],
  ])('has no value for %j and %j: of two models, or without direction', (request, answer) => {
    expect(() => embeddingCoherence(request, answer)).toThrow(RangeError);
  });

  it('is symmetric, within [0, 1] and blind to length, for any vectors', () => {
    const vector = fc.array(
      fc.double({ min: -1e3, max: 1e3, noNaN: true }).filter((n) => Math.abs(n) > 1e-6),
      { minLength: 3, maxLength: 3 },
    );
    fc.assert(
      fc.property(vector, vector, fc.double({ min: 0.5, max: 100, noNaN: true }), (a, b, factor) => {
        const value = embeddingCoherence(a, b);
        expect(value >= 0 && value <= 1).toBe(true);
        expect(embeddingCoherence(b, a)).toBe(value);
        expect(
          embeddingCoherence(
            a.map((number) => number * factor),
            b,
          ),
        ).toBeCloseTo(value, 9);
      }),
    );
  });
});
