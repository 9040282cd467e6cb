import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Arm } from './assignment.js';
import { countSession, liveBets, liveEvidence, mayReach, noSessions, type LiveCounts } from './live-e-process.js';

const allocations = fc.double({ min: 0.01, max: 0.99, noNaN: true });
const rates = fc.double({ min: 0, max: 1, noNaN: true });
const session = fc.record({ arm: fc.constantFrom<Arm>('treatment', 'control'), breached: fc.boolean() });
type Session = { arm: Arm; breached: boolean };

const fold = (sessions: readonly Session[]): LiveCounts =>
  sessions.reduce((counts, { arm, breached }) => countSession(counts, arm, breached), noSessions);
const evidence = (sessions: readonly Session[], allocation = 0.5) => liveEvidence(fold(sessions), liveBets(allocation));
const all: Session[] = (['treatment', 'control'] as const).flatMap((arm) => [false, true].map((breached) => ({ arm, breached })));

describe('the live e-process', () => {
  it('is a martingale when the rule does nothing: at any breach rate and allocation the next session is worth 1 on average', () => {
    fc.assert(
      fc.property(fc.array(session, { maxLength: 40 }), rates, allocations, (before, rate, allocation) => {
        const bets = liveBets(allocation);
        const now = liveEvidence(fold(before), bets);
        for (const side of ['help', 'harm'] as const) {
          const mean = all.reduce((sum, next) => {
            const probability = (next.arm === 'treatment' ? allocation : 1 - allocation) * (next.breached ? rate : 1 - rate);
            return sum + probability * Math.exp(liveEvidence(fold([...before, next]), bets)[side] - now[side]);
          }, 0);
          expect(mean).toBeCloseTo(1, 10);
        }
      }),
    );
  });

  it('does not depend on the order of sessions', () => {
    fc.assert(
      fc.property(fc.array(session, { maxLength: 60 }), allocations, (sessions, allocation) => {
        expect(evidence([...sessions].reverse(), allocation)).toEqual(evidence(sessions, allocation));
      }),
    );
  });

  it('changes its sides when the arms change theirs, at an even allocation', () => {
    fc.assert(
      fc.property(fc.array(session, { maxLength: 60 }), (sessions) => {
        const exchanged = sessions.map(({ arm, breached }): Session => ({
          arm: arm === 'control' ? 'treatment' : 'control',
          breached,
        }));
        const { help, harm } = evidence(sessions);
        expect(evidence(exchanged).help).toBeCloseTo(harm, 9);
        expect(evidence(exchanged).harm).toBeCloseTo(help, 9);
      }),
    );
  });

  it('stays finite for any counts, also of one kind alone', () => {
    const counts = fc.integer({ min: 0, max: 1_000_000_000 });
    fc.assert(
      fc.property(counts, counts, counts, counts, allocations, (a, b, c, d, allocation) => {
        const arms = { treatment: { sessions: a + b, breached: b }, control: { sessions: c + d, breached: d } };
        const { help, harm } = liveEvidence(arms, liveBets(allocation));
        expect([Number.isFinite(help), Number.isFinite(harm)]).toEqual([true, true]);
      }),
      {
        examples: [1e9, 0].flatMap((a) =>
          [1e9, 0].map((b): [number, number, number, number, number] => [a, b, 1e9 - a, 1e9 - b, 0.5]),
        ),
      },
    );
  });

  it('knows a million sessions by their counts: at least as sure as the thousandth part a thousand times over', () => {
    const bets = liveBets(0.5);
    const times = (factor: number) => ({
      treatment: { sessions: 500 * factor, breached: 125 * factor },
      control: { sessions: 500 * factor, breached: 250 * factor },
    });
    // A mean of powers is at least the power of the mean, and at most that of the largest of 66.
    const [thousand, million] = [liveEvidence(times(1), bets).help, liveEvidence(times(1000), bets).help];
    expect(million).toBeGreaterThanOrEqual(1000 * thousand);
    expect(million).toBeLessThanOrEqual(1000 * (thousand + Math.log(66)));
  });

  it('is 0 before the first session, grows with a clear treatment and falls with a breached one', () => {
    expect(evidence([])).toEqual({ help: 0, harm: 0 });
    expect(evidence([{ arm: 'treatment', breached: false }]).help).toBeGreaterThan(0);
    expect(evidence([{ arm: 'treatment', breached: true }]).help).toBeLessThan(0);
    expect(evidence([{ arm: 'control', breached: true }]).help).toBeGreaterThan(0);
  });

  it('never reaches a bound that none of its hypotheses reaches', () => {
    fc.assert(
      fc.property(
        fc.array(session, { maxLength: 60 }),
        allocations,
        fc.double({ min: -2, max: 4, noNaN: true }),
        (sessions, allocation, bound) => {
          const { help, harm } = evidence(sessions, allocation);
          if (Math.max(help, harm) >= bound) expect(mayReach(fold(sessions), liveBets(allocation), bound)).toBe(true);
        },
      ),
    );
    expect(mayReach(noSessions, liveBets(0.5), 3)).toBe(false);
  });

  it.each([0, 1, -0.5, 2, NaN])('refuses the allocation %p', (allocation) => {
    expect(() => liveBets(allocation)).toThrow(RangeError);
  });
});
