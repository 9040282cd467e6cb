import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { backoffS, isGivenUp } from './backoff.js';

describe('a failed run', () => {
  it.each([
    [1, null, 60],
    [2, null, 240],
    [3, null, 960],
    [4, null, 3_600],
    [1, 300, 300],
    [3, 5, 960],
    [1, 86_400, 3_600],
  ])('number %d, asked to wait %s s, waits %d s', (failures, asked, wait) => {
    expect(backoffS(failures, asked)).toBe(wait);
  });
  it('waits a minute at least and an hour at most, and never less after more failures', () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.option(fc.nat(100_000)), (failures, asked) => {
        const wait = backoffS(failures, asked);
        expect(wait).toBeGreaterThanOrEqual(60);
        expect(wait).toBeLessThanOrEqual(3_600);
        expect(backoffS(failures + 1, asked)).toBeGreaterThanOrEqual(wait);
      }),
    );
  });
  it('is the last one when there were so many as are allowed', () => {
    expect([4, 5, 6].map((failures) => isGivenUp(failures, 5))).toEqual([false, true, true]);
  });
});
