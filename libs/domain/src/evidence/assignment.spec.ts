import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { armOf, assignmentDraw } from './assignment.js';

const sessions = Array.from({ length: 4000 }, (_, at) => `session-${at}`);
const treated = (ruleId: string, allocation: number, salt = 'salt') =>
  sessions.filter((sessionId) => armOf({ ruleId, sessionId, salt }, allocation) === 'treatment');

describe('the arm of a session', () => {
  it('is the first 8 bytes of the hash, as a share of 2^64', () => {
    // printf 'r|s|x' | sha256sum begins with 752979bd6e1edf38.
    const draw = assignmentDraw({ ruleId: 'r', sessionId: 's', salt: 'x' });
    expect(draw).toBe(Number(BigInt('0x752979bd6e1edf38')) / 2 ** 64);
  });

  it('is treatment in the allocated share of sessions', () => {
    for (const allocation of [0.02, 0.1, 0.5, 0.98]) {
      const deviation = Math.sqrt((allocation * (1 - allocation)) / sessions.length);
      expect(Math.abs(treated('r-1', allocation).length / sessions.length - allocation)).toBeLessThan(4 * deviation);
    }
  });

  it('is independent between rules, and between projects', () => {
    const both = (other: readonly string[]) => treated('r-1', 0.5).filter((one) => other.includes(one)).length / sessions.length;
    expect(both(treated('r-2', 0.5))).toBeCloseTo(0.25, 1);
    expect(both(treated('r-1', 0.5, 'other'))).toBeCloseTo(0.25, 1);
  });

  it('stays treatment when more sessions are allocated', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.string(), fc.string(), share, share, (ruleId, sessionId, one, other) => {
        const arm = (allocation: number) => armOf({ ruleId, sessionId, salt: '' }, allocation);
        if (arm(Math.min(one, other)) === 'treatment') expect(arm(Math.max(one, other))).toBe('treatment');
      }),
    );
  });
});
