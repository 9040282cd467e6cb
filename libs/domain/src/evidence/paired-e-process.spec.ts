import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { countPair, noPairs, pairedEvidence } from './paired-e-process.js';

const deltas = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { maxLength: 40 });
const delta = fc.double({ min: -1, max: 1, noNaN: true });
const fold = (all: readonly number[]) => all.reduce(countPair, noPairs);
const evidence = (all: readonly number[]) => pairedEvidence(fold(all));

describe('the paired e-process', () => {
  it('is a martingale when a pair could be exchanged: a difference and its opposite are together worth 1 on average', () => {
    fc.assert(
      fc.property(deltas, delta, (before, next) => {
        const now = evidence(before);
        for (const side of ['help', 'harm'] as const) {
          const after = [next, -next].map((one) => Math.exp(evidence([...before, one])[side] - now[side]));
          expect(((after[0] ?? 0) + (after[1] ?? 0)) / 2).toBeCloseTo(1, 10);
        }
      }),
    );
  });

  it('depends on the order of pairs by rounding only', () => {
    fc.assert(
      fc.property(deltas, (all) => {
        expect(Math.abs(evidence([...all].reverse()).help - evidence(all).help)).toBeLessThan(1e-9);
      }),
    );
  });

  it('takes the opposite differences for the opposite effect', () => {
    fc.assert(
      fc.property(deltas, (all) => {
        expect(evidence(all.map((one) => -one))).toEqual({ help: evidence(all).harm, harm: evidence(all).help });
      }),
    );
  });

  it('needs at least five pairs for a bound of 20, since no pair is worth 2', () => {
    expect(evidence([1, 1, 1, 1]).help).toBeLessThan(Math.log(20));
    expect(evidence([1, 1, 1, 1, 1]).help).toBeGreaterThan(Math.log(20));
  });

  it.each([[1], [-1], [0]])('stays finite over 10,000 pairs with a difference of %p', (one) => {
    let sums = noPairs;
    for (let at = 0; at < 10_000; at += 1) sums = countPair(sums, one);
    const { help, harm } = pairedEvidence(sums);
    expect([Number.isFinite(help), Number.isFinite(harm), sums.pairs]).toEqual([true, true, 10_000]);
    if (one === 0) expect([help, harm]).toEqual([0, 0]);
  });

  it.each([1.1, -1.1, NaN, Infinity])('refuses a difference of %p', (one) => {
    expect(() => countPair(noPairs, one)).toThrow(RangeError);
  });
});
