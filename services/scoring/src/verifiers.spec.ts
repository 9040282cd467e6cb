import { describe, expect, it } from '@jest/globals';
import { Verifiers } from './verifiers.js';

describe('verifiers', () => {
  it('are looked for once in five seconds by each project, and asked about every turn once they have answered', () => {
    let now = 0;
    const verifiers = new Verifiers(() => now);
    const asks = (project: string): boolean => verifiers.shouldAsk(project);
    expect([asks('a'), asks('a'), asks('b')]).toEqual([true, false, true]);
    now = 4_999;
    expect(asks('a')).toBe(false);
    now = 5_000;
    expect([asks('a'), asks('a')]).toEqual([true, false]);
    verifiers.answered('a');
    expect([asks('a'), asks('a'), asks('b'), asks('b'), verifiers.isKnown('b')]).toEqual([true, true, true, false, false]);
  });

  it('are known as the table says, by whichever process they answered, and forgotten with it', () => {
    const verifiers = new Verifiers(() => 0);
    verifiers.refresh(['a']);
    expect([verifiers.isKnown('a'), verifiers.shouldAsk('a')]).toEqual([true, true]);
    verifiers.refresh([]);
    expect(verifiers.isKnown('a')).toBe(false);
  });
});
