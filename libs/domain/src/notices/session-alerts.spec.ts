import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compareNotices, foldAlerts, type AlertTurn } from './session-alerts.js';

const turn = (t: number, standing: string[], more: Partial<AlertTurn> = {}): AlertTurn => ({
  t,
  standing,
  measured: true,
  cooldownTurns: 0,
  ...more,
});
const posts = (turns: AlertTurn[]) =>
  foldAlerts(null, turns)
    .steps.filter(({ posted }) => posted)
    .map(({ t }) => t);

describe('a session alerts', () => {
  it('once per problem until it recovers', () => {
    const turns = [['a'], ['a'], [], ['a']].map((standing, t) => turn(t, standing));
    expect(posts(turns)).toEqual([0, 3]);
    expect(foldAlerts(null, turns).steps.filter(({ recovered }) => recovered)).toMatchObject([{ t: 2, signatures: ['a'] }]);
  });
  it('again when a new problem joins, not when one leaves', () => {
    expect(posts([turn(0, ['a']), turn(1, ['a', 'b']), turn(2, ['b'])])).toEqual([0, 1]);
  });
  it('again after the cooldown', () => {
    expect(posts([0, 1, 2, 3].map((t) => turn(t, ['a'], { cooldownTurns: 2 })))).toEqual([0, 3]);
  });
  it('neither recovers nor forgets on a turn that measured nothing', () => {
    const { steps, memory } = foldAlerts(null, [turn(0, ['a']), turn(1, [], { measured: false }), turn(2, ['a'])]);
    expect(steps.map(({ t, posted, recovered }) => ({ t, posted, recovered }))).toEqual([
      { t: 0, posted: true, recovered: false },
      { t: 2, posted: false, recovered: false },
    ]);
    expect(memory?.signatures).toEqual(['a']);
  });
  it('leaves no step for healthy turns, so that a healthy session costs nothing', () => {
    expect(foldAlerts(null, [turn(0, []), turn(1, [])])).toEqual({ steps: [], memory: null });
  });
  it('folds the same from any step on, with the memory of the step before', () => {
    const standing = fc.subarray(['a', 'b', 'c']);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(standing, fc.boolean()), { minLength: 1, maxLength: 25 }),
        fc.integer({ min: -1, max: 4 }),
        fc.nat(),
        (list, cooldownTurns, at) => {
          const turns = list.map(([set, measured], t) => turn(t, set, { measured, cooldownTurns }));
          const cut = at % turns.length;
          const first = foldAlerts(null, turns.slice(0, cut));
          const before = first.steps.at(-1)?.memory ?? null;
          expect([...first.steps, ...foldAlerts(before, turns.slice(cut)).steps]).toEqual(foldAlerts(null, turns).steps);
        },
      ),
    );
  });
});

describe('notices on record', () => {
  const notice = (t: number, signatures: string[], more = {}) => ({
    id: `${t}${signatures.join('')}`,
    t,
    signatures,
    corrected: false,
    final: false,
    ...more,
  });
  const { steps } = foldAlerts(null, [turn(0, ['a']), turn(1, ['a', 'b'])]);
  it('are posted, corrected and reinstated so that they equal what the fold wants', () => {
    const changes = compareNotices(steps, [notice(0, ['a'], { corrected: true }), notice(1, ['b'])]);
    expect(changes.post).toMatchObject([{ t: 1, signatures: ['a', 'b'] }]);
    expect(changes.correct).toMatchObject([{ t: 1, signatures: ['b'] }]);
    expect(changes.reinstate).toMatchObject([{ t: 0 }]);
  });
  it('stay when a repair has acknowledged them', () => {
    expect(compareNotices([], [notice(0, ['a'], { final: true })]).correct).toEqual([]);
  });
  it('change nothing a second time', () => {
    const known = [notice(0, ['a']), notice(1, ['a', 'b'])];
    expect(compareNotices(steps, known)).toEqual({ post: [], correct: [], reinstate: [], keep: known });
  });
});
