import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  attachInput,
  captureCase,
  caseSummary,
  isReplayable,
  matchingCases,
  removeCase,
  replayInputOf,
  type EvalCase,
  type EvalSet,
} from './evalset.js';

let created = 0;
const offer = (session: string, signature: readonly string[] = ['breach:x'], more: Partial<EvalCase> = {}): EvalCase => ({
  ...{ id: `c-${created++}`, session, kind: 'failure', signature, baseline: { x: 0.2 }, replayInput: null, notes: '' },
  ...more,
});
const fill = (max: number, ...offers: readonly EvalCase[]) =>
  offers.reduce((set: EvalSet, one) => captureCase(set, one, max).set, []);
const sessions = (set: EvalSet) => set.map(({ session }) => session);

describe('the eval set', () => {
  it('keeps one case per session, signature and kind, whatever the order of the signatures', () => {
    const first = offer('s', ['b', 'a', 'b']);
    const set = fill(0, first);
    expect(captureCase(set, offer('s', ['a', 'b']), 0).outcome).toEqual({
      result: 'known',
      case: { ...first, signature: ['a', 'b'] },
    });
    for (const other of [offer('t', ['a', 'b']), offer('s', ['a']), offer('s', ['a', 'b'], { kind: 'win' })])
      expect(captureCase(set, other, 0).outcome.result).toBe('captured');
  });

  it('tells signatures apart whose joined text is the same', () => {
    expect(fill(0, offer('s', ['a,b']), offer('s', ['a', 'b']))).toHaveLength(2);
  });

  it('lets the oldest failure go when it is full, and says which', () => {
    const set = fill(2, offer('one'), offer('two'));
    const { set: after, outcome } = captureCase(set, offer('three'), 2);
    expect(sessions(after)).toEqual(['two', 'three']);
    expect(outcome).toMatchObject({ result: 'captured', evicted: [{ session: 'one' }] });
  });

  it('never lets a win go: a set full of wins refuses, and stays as it was', () => {
    const set = fill(1, offer('w', [], { kind: 'win' }));
    expect(captureCase(set, offer('f'), 1)).toEqual({ set, outcome: { result: 'refused' } });
  });

  it('shrinks to a limit that was lowered', () => {
    const set = fill(0, ...['a', 'b', 'c', 'd'].map((one) => offer(one)));
    expect(sessions(captureCase(set, offer('e'), 2).set)).toEqual(['d', 'e']);
  });

  it('is never larger than its limit, keeps every win, and takes the same case once', () => {
    const offers = fc.array(
      fc.record({ session: fc.constantFrom('a', 'b', 'c'), signature: fc.subarray(['x', 'y', 'z']), win: fc.boolean() }),
    );
    fc.assert(
      fc.property(offers, fc.integer({ min: 1, max: 5 }), (steps, max) => {
        let set: EvalSet = [];
        for (const { session, signature, win } of steps) {
          const wins = set.filter(({ kind }) => kind === 'win');
          set = captureCase(set, offer(session, signature, { kind: win ? 'win' : 'failure' }), max).set;
          expect(set.length).toBeLessThanOrEqual(max);
          expect(wins.every((one) => set.includes(one))).toBe(true);
        }
        const keys = set.map(({ session, kind, signature }) => JSON.stringify([session, kind, signature]));
        expect(new Set(keys).size).toBe(set.length);
      }),
    );
  });

  it('matches failures that share a signature, the newest first', () => {
    const set = fill(
      0,
      offer('old', ['a', 'b']),
      offer('win', ['a'], { kind: 'win' }),
      offer('new', ['a']),
      offer('other', ['c']),
    );
    expect(sessions(matchingCases(set, ['a', 'z']))).toEqual(['new', 'old']);
    expect(matchingCases(set, [])).toEqual([]);
  });

  it('makes a case replayable when its input is attached, and knows no other', () => {
    const one = offer('s');
    const set = fill(0, one);
    expect(set.map(isReplayable)).toEqual([false]);
    expect(attachInput(set, one.id, { task: 1 })?.map(isReplayable)).toEqual([true]);
    expect([attachInput(set, 'none', {}), removeCase(set, 'none')]).toEqual([null, null]);
    expect(removeCase(set, one.id)).toEqual([]);
  });

  it('takes a replay input from an end state that says something, and shows only that there is one', () => {
    expect([null, undefined, {}, [], { done: true }].map(replayInputOf)).toEqual([null, null, null, null, { done: true }]);
    const summary = caseSummary(offer('s', ['a'], { replayInput: { task: 'secret' } }));
    expect(summary).toMatchObject({ session: 's', replayable: true });
    expect(summary).not.toHaveProperty('replayInput');
  });
});
