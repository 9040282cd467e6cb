import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { admit, newcomer, replayAdmission, type AdmissionSettings, type SessionAdmission } from './index.js';

const unlimited: AdmissionSettings = { eval_sample_every: 1, session_min_eval_interval_s: 0, max_evals: 0 };
const times = fc.array(fc.integer({ min: 0, max: 1_000 }), { maxLength: 60 });

/** Turns of one session at these times, in this order. */
function run(at: readonly number[], settings: AdmissionSettings): (string | null)[] {
  let session: SessionAdmission = newcomer;
  let spent = 0;
  return at.map((now) => {
    const { session: after, skip } = admit(session, now, spent, settings);
    session = after;
    if (skip === null) spent += 1;
    return skip;
  });
}

describe('admission of a turn', () => {
  it('lets all pass where nothing is limited', () => {
    fc.assert(fc.property(times, (at) => expect(run(at, unlimited).every((skip) => skip === null)).toBe(true)));
  });

  it('samples turns 1, N + 1, 2 N + 1, whatever their times', () => {
    fc.assert(
      fc.property(times, fc.integer({ min: 1, max: 9 }), (at, every) => {
        const skips = run(at, { ...unlimited, eval_sample_every: every });
        skips.forEach((skip, index) => expect(skip).toBe(index % every === 0 ? null : 'sampling'));
      }),
    );
  });

  it('never admits two turns closer than the interval, and never skips one that is as far', () => {
    fc.assert(
      fc.property(times, fc.integer({ min: 1, max: 200 }), (at, interval) => {
        const sorted = [...at].sort((a, b) => a - b);
        let last = -Infinity;
        run(sorted, { ...unlimited, session_min_eval_interval_s: interval }).forEach((skip, index) => {
          const now = sorted[index] ?? 0;
          expect(skip).toBe(now - last < interval ? 'rate' : null);
          if (skip === null) last = now;
        });
      }),
    );
  });

  it('never admits more than the budget, and names the budget first, then sampling, then rate', () => {
    fc.assert(
      fc.property(times, fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 4 }), (at, most, every) => {
        const settings = { eval_sample_every: every, session_min_eval_interval_s: 50, max_evals: most };
        const skips = run(
          [...at].sort((a, b) => a - b),
          settings,
        );
        expect(skips.filter((skip) => skip === null).length).toBeLessThanOrEqual(most);
        let admitted = 0;
        skips.forEach((skip, index) => {
          if (admitted >= most) expect(skip).toBe('budget');
          else if (index % every !== 0) expect(skip).toBe('sampling');
          if (skip === null) admitted += 1;
        });
      }),
    );
  });

  it('says a spent budget once, and counts sessions apart', () => {
    const turns = ['a', 'b', 'a', 'b', 'a'].map((session, t) => ({ session, t }));
    expect(replayAdmission({ config: { max_evals: 2 }, turns })).toEqual({
      admitted: [true, true, false, false, false],
      budget_skip_events: 1,
    });
    expect(replayAdmission({ config: { eval_sample_every: 2 }, turns })).toEqual({
      admitted: [true, true, false, false, true],
      budget_skip_events: 0,
    });
  });
});
