import { describe, expect, it } from '@jest/globals';
import { closingOf, type SessionClock } from './closing.js';

const S = 1_000_000;
const clock: SessionClock = { nowUs: 100 * S, lastTurnUs: 90 * S, exposureUs: 80 * S, endedUs: null, idleS: 60, graceS: 30 };

describe('a session', () => {
  it.each<[string, Partial<SessionClock>, ReturnType<typeof closingOf>]>([
    ['is open until it was idle long enough', {}, { closing: 'open', checkUs: 150 * S }],
    ['closes when it was', { nowUs: 150 * S }, { closing: 'closing', checkUs: 180 * S }],
    ['is over when the grace is', { nowUs: 180 * S }, { closing: 'over', checkUs: null }],
    ['counts from the exposure while it has no turn', { lastTurnUs: null }, { closing: 'open', checkUs: 140 * S }],
    ['counts from the exposure when its turns are older', { lastTurnUs: 10 * S }, { closing: 'open', checkUs: 140 * S }],
    ['closes when it is ended', { endedUs: 95 * S }, { closing: 'closing', checkUs: 125 * S }],
    [
      'that was ended long after it was idle closed by then',
      { nowUs: 200 * S, endedUs: 199 * S },
      { closing: 'over', checkUs: null },
    ],
  ])('%s', (_, more, expected) => {
    expect(closingOf({ ...clock, ...more })).toEqual(expected);
  });
});
