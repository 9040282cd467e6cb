import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { effectSequence, hasSampleRatioMismatch, rateSequence } from './confidence-sequence.js';
import { randomFrom } from './random.js';

const arm = fc
  .record({ sessions: fc.integer({ min: 0, max: 1_000_000 }), share: fc.double({ min: 0, max: 1, noNaN: true }) })
  .map(({ sessions, share }) => ({ sessions, breached: Math.round(sessions * share) }));
const error = fc.double({ min: 1e-6, max: 0.5, noNaN: true });

describe('the confidence sequence of a breach rate', () => {
  it('is everything before the first session', () => {
    expect(rateSequence({ sessions: 0, breached: 0 }, 0.05)).toEqual({ low: 0, high: 1 });
  });

  it('holds the observed rate, inside [0, 1], for any counts', () => {
    fc.assert(
      fc.property(arm, error, (counts, one) => {
        const { low, high } = rateSequence(counts, one);
        const observed = counts.sessions === 0 ? 0.5 : counts.breached / counts.sessions;
        expect(0 <= low && low <= observed && observed <= high && high <= 1).toBe(true);
      }),
      {
        examples: [
          [{ sessions: 1_000_000, breached: 0 }, 0.05],
          [{ sessions: 1_000_000, breached: 1_000_000 }, 0.05],
        ],
      },
    );
  });

  it('is wider for a smaller error, and mirrored for the opposite outcome', () => {
    fc.assert(
      fc.property(arm, error, (counts, one) => {
        const [wide, narrow] = [rateSequence(counts, one / 2), rateSequence(counts, one)];
        expect(wide.low <= narrow.low && narrow.high <= wide.high).toBe(true);
        const mirrored = rateSequence({ ...counts, breached: counts.sessions - counts.breached }, one);
        expect(mirrored.low).toBeCloseTo(1 - narrow.high, 9);
      }),
    );
  });

  it('has its ends where the mixture over the likelihood is one over the error', () => {
    // One session that breached: Beta(2, 1) / p = 1 / (2 p), so p = error / 2.
    expect(rateSequence({ sessions: 1, breached: 1 }, 0.1)).toEqual({ low: expect.closeTo(0.05, 12), high: 1 });
    expect(rateSequence({ sessions: 2, breached: 2 }, 0.1).low).toBeCloseTo(Math.sqrt(0.1 / 3), 12);
  });

  it('misses the true rate at some time in at most its error of 1,000 arms, looked at thirty times in 300 sessions', () => {
    const missed = Array.from({ length: 1000 }, (_, at) => {
      const { uniform } = randomFrom(5, at);
      for (let sessions = 1, breached = 0; sessions <= 300; sessions += 1) {
        breached += uniform() < 0.3 ? 1 : 0;
        if (sessions % 10 !== 0) continue;
        const { low, high } = rateSequence({ sessions, breached }, 0.1);
        if (low > 0.3 || high < 0.3) return true;
      }
      return false;
    });
    const share = missed.filter(Boolean).length / missed.length;
    expect(share).toBeGreaterThan(0);
    expect(share).toBeLessThanOrEqual(0.1);
  });
});

describe('the confidence sequence of an effect', () => {
  it('goes from the least to the largest difference of the arms, positive when the rule helps', () => {
    const clear = effectSequence({ treatment: { sessions: 500, breached: 50 }, control: { sessions: 500, breached: 350 } }, 0.05);
    expect(clear.low).toBeGreaterThan(0.4);
    expect(clear.high).toBeLessThan(0.8);
    expect(effectSequence({ treatment: { sessions: 0, breached: 0 }, control: { sessions: 0, breached: 0 } }, 0.05)).toEqual({
      low: -1,
      high: 1,
    });
  });
});

describe('the sizes of the arms', () => {
  const arms = (treatment: number, control: number) => ({
    treatment: { sessions: treatment, breached: 0 },
    control: { sessions: control, breached: 0 },
  });

  it.each([
    [0, 0, 0.5, false],
    [60, 40, 0.5, false],
    [600, 400, 0.5, true],
    [900, 100, 0.9, false],
    [900, 100, 0.98, true],
  ])('of %p and %p, at an allocation of %p: mismatch %p', (treatment, control, allocation, mismatch) => {
    expect(hasSampleRatioMismatch(arms(treatment, control), allocation)).toBe(mismatch);
  });
});
