import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { outcomeOf, type Closing, type WatchedTurn } from './outcome.js';

const turn = (t: number, more: Partial<WatchedTurn> = {}): WatchedTurn => ({
  ...{ t, acceptedUs: 1_000 + t, reported: true, breached: false },
  ...more,
});
const five = [0, 1, 2, 3, 4].map((t) => turn(t));

describe('the outcome of a session', () => {
  it.each<[string, WatchedTurn[], Closing, 0 | 1 | null]>([
    ['is open while its window is', five.slice(0, 4), 'open', null],
    ['is 0 after its window', five, 'open', 0],
    ['is 1 at the first breach', [turn(0, { breached: true })], 'open', 1],
    ['waits for the reports of its window', [...five.slice(0, 4), turn(4, { reported: false })], 'open', null],
    ['does not look beyond its window', [...five, turn(5, { breached: true })], 'open', 0],
    ['is 0 when it closes without a breach', [turn(0)], 'closing', 0],
    ['is 0 when it closes without a turn', [], 'closing', 0],
    ['waits for reports when it closes', [turn(0, { reported: false })], 'closing', null],
    ['waits for them only so long', [turn(0, { reported: false })], 'over', 0],
    ['is 1 for a breach that is told before the grace is over', [turn(0, { breached: true })], 'over', 1],
    ['counts turns in the order of their acceptance', [turn(9, { acceptedUs: 1, breached: true }), ...five], 'open', 1],
    [
      'does not count a turn that was accepted after the window, whatever its index',
      [...five, turn(-1, { acceptedUs: 9_999, breached: true })],
      'open',
      0,
    ],
  ])('%s', (_, turns, closing, outcome) => {
    expect(outcomeOf(turns, 5, closing)).toBe(outcome);
  });

  it('does not depend on the order in which turns are given, and once known stays as turns are added that come later', () => {
    const turns = fc.uniqueArray(
      fc.record({ t: fc.nat(30), acceptedUs: fc.nat(1_000), reported: fc.constant(true), breached: fc.boolean() }),
      { selector: ({ t }) => t, maxLength: 10 },
    );
    fc.assert(
      fc.property(turns, fc.nat(1_000), (all, later) => {
        const known = outcomeOf(all, 5, 'open');
        expect(outcomeOf([...all].reverse(), 5, 'open')).toBe(known);
        const more = [...all, { t: 99, acceptedUs: 1_001 + later, reported: false, breached: true }];
        if (known !== null) expect(outcomeOf(more, 5, 'open')).toBe(known);
      }),
    );
  });
});
