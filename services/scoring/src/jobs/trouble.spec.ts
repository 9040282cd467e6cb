import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Ending } from '../job-ending.js';
import { backoffMs, Trouble, worst } from './trouble.js';

const endings: readonly Ending[] = [
  { kind: 'blocked', code: 'auth', error: 'no key', delayMs: 1 },
  { kind: 'rest', code: 'rate_limit', error: 'slowly', delayMs: 1 },
  { kind: 'failed', error: 'late', delayMs: 1 },
  { kind: 'dropped' },
  { kind: 'returned' },
  { kind: 'done' },
];

describe('what becomes of a job', () => {
  it('is the worst of what became of its values, in whatever order they ended', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...endings.keys()], { minLength: 1 }), (indices) => {
        expect(worst(indices.flatMap((index) => endings.slice(index, index + 1)))).toBe(endings[Math.min(...indices)]);
      }),
    );
  });

  it('is done, when it had none', () => {
    expect(worst([])).toEqual({ kind: 'done' });
  });

  it('is tried again after 5 s, 10 s, 20 s, and so on to ten minutes', () => {
    expect([0, 1, 2, 6, 7, 100].map(backoffMs)).toEqual([5_000, 10_000, 20_000, 320_000, 600_000, 600_000]);
  });

  it('is said with the reason of its trouble', () => {
    expect(endings.slice(0, 5).map((ending) => new Trouble(ending as Trouble['ending']).message)).toEqual([
      ...['no key', 'slowly', 'late', 'dropped', 'returned'],
    ]);
  });
});
