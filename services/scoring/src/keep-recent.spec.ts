import { describe, expect, it } from '@jest/globals';
import { keepRecent } from './keep-recent.js';

describe('a map of what is recent', () => {
  it('holds no more than it may, and forgets what was put in longest ago', () => {
    const map = new Map<string, number>();
    for (const [key, value] of [
      ['a', 1],
      ['b', 2],
      ['a', 3],
      ['c', 4],
    ] as const)
      keepRecent(map, key, value, 2);
    expect([...map]).toEqual([
      ['a', 3],
      ['c', 4],
    ]);
    for (let index = 0; index < 1_000; index += 1) keepRecent(map, String(index), index, 2);
    expect([...map.values()]).toEqual([998, 999]);
  });
});
