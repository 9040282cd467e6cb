import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { foldValue, type GateState } from './gate.js';
import { replayGate, gateDefaults } from './golden.js';

const verdicts = (values: number[], config = {}) => replayGate({ values, config }).verdicts;
const fired = (values: number[], config = {}) =>
  verdicts(values, config)
    .map(({ stalled, regressed }) => (stalled ? 's' : regressed ? 'r' : '.'))
    .join('');

describe('the trajectory gate', () => {
  it.each([
    ['a healthy climb never fires', [0.05, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1], { gate_window: 3 }, '........'],
    ['a stall below the target fires after the window', [0.2, 0.2, 0.2, 0.2], { gate_window: 3 }, '...s'],
    ['a plateau at or above the target does not stall', [0.8, 0.8, 0.8, 0.8, 0.8], {}, '.....'],
    ['a drop from the peak fires at once', [0.9, 0.6], { gate_window: 10 }, '.r'],
    ['a drop within the margin is noise', [0.9, 0.8], {}, '..'],
    ['a gain resets the window', [0.2, 0.2, 0.2, 0.5, 0.5, 0.5], { gate_window: 3, gate_target: 0.9 }, '......'],
    ['a stall fires once and then starts a fresh window', [0.2, 0.2, 0.2, 0.2, 0.2, 0.2], { gate_window: 2 }, '..s.s.'],
    ['a regression fires on every further low value', [0.9, 0.6, 0.6, 0.6], {}, '.rrr'],
  ])('%s', (_, values, config, expected) => {
    expect(fired(values, config)).toBe(expected);
  });
  it('keeps the peak through a regression', () => {
    expect(verdicts([0.9, 0.6])[1]).toEqual({ peak: 0.9, turns_since_gain: 0, stalled: false, regressed: true });
  });
  it('never fires on a series in which every value is a gain', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 40 }), (steps) => {
        let value = 0;
        const values = steps.map((step) => (value += gateDefaults.gate_gain + 1e-9 + step));
        expect(fired(values)).toMatch(/^\.*$/);
      }),
    );
  });
  it('never stalls a session whose peak reached the target', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 60 }), (values) => {
        expect(fired([0.5, ...values])).not.toContain('s');
      }),
    );
  });
  it('is a pure fold: a series cut anywhere and continued gives the same verdicts', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 40 }),
        fc.nat(),
        (values, at) => {
          const cut = at % values.length;
          let state: GateState | null = null;
          for (const value of values.slice(0, cut)) state = foldValue(state, value, gateDefaults).state;
          for (const [index, value] of values.slice(cut).entries()) {
            const verdict = foldValue(state, value, gateDefaults);
            state = verdict.state;
            expect({ ...verdict.state, s: verdict.stalled, r: verdict.regressed }).toEqual(
              (({ peak, turns_since_gain: turnsSinceGain, stalled: s, regressed: r }) => ({ peak, turnsSinceGain, s, r }))(
                verdicts(values)[cut + index]!,
              ),
            );
          }
        },
      ),
    );
  });
});
