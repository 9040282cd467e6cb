import { describe, expect, it } from '@jest/globals';
import { closedBreaker } from './breaker.js';
import { ProjectGate, type PlacementSettings } from './placement.js';

const settings: PlacementSettings = {
  coalesce: 'fleet',
  observe_only: false,
  circuit_breaker_max_notices: 2,
  circuit_breaker_window_s: 600,
};
const gate = (more: Partial<PlacementSettings> = {}, breaker = closedBreaker, now = 1000, open: string[] = []) =>
  new ProjectGate(breaker, new Set(open), { ...settings, ...more }, now);
const passages = (one: ProjectGate, faults: (string | null)[]) => faults.map((fingerprint) => one.place({ fingerprint }).passage);

describe('a project', () => {
  it('counts only notices that open an incident: five hundred sessions with one fault are one', () => {
    const one = gate();
    expect(passages(one, Array<string>(500).fill('same'))).toEqual(Array(500).fill('post'));
    expect(one.breaker.counted).toHaveLength(1);
  });
  it('posts a single needs_human after the maximum and suppresses what comes after it', () => {
    expect(passages(gate(), ['a', 'b', 'c', 'd', 'e'])).toEqual(['post', 'post', 'needs_human', 'suppress', 'suppress']);
  });
  it('still posts what joins an open incident while the breaker is open', () => {
    const one = gate();
    passages(one, ['a', 'b', 'c']);
    expect(one.place({ fingerprint: 'a' })).toEqual({ passage: 'post', incident: 'joins', counted: false, opensBreaker: false });
  });
  it('does not let what was suppressed open its fault for the next session', () => {
    expect(passages(gate(), ['a', 'b', 'c', 'd', 'd'])).toEqual(['post', 'post', 'needs_human', 'suppress', 'suppress']);
  });
  it('says once that the breaker opened', () => {
    const one = gate();
    expect(['a', 'b', 'c', 'd'].map((fingerprint) => one.place({ fingerprint }).opensBreaker)).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });
  it('closes by the recovery of a session whose notice was counted, and by no other', () => {
    const one = gate();
    passages(one, ['a', 'b', 'c']);
    expect(one.recovered(false)).toBe(false);
    expect(one.recovered(true)).toBe(true);
    expect(passages(one, ['d'])).toEqual(['post']);
  });
  it('closes by any recovery when sessions are not coalesced', () => {
    const one = gate({ coalesce: 'session' });
    passages(one, [null, null, null]);
    expect(one.recovered(false)).toBe(true);
  });
  it('stays open until the window is empty, not merely below the maximum', () => {
    const breaker = { counted: [100, 700], open: true };
    expect(passages(gate({}, breaker, 1000), ['x'])).toEqual(['suppress']);
    expect(passages(gate({}, breaker, 1301), ['x'])).toEqual(['post']);
    expect(gate({}, breaker, 1300).settle()).toBe(false);
    expect(gate({}, breaker, 1301).settle()).toBe(true);
  });
  it('posts nothing and counts nothing in shadow mode', () => {
    const one = gate({ observe_only: true });
    expect(passages(one, ['a', 'b', 'c', 'd'])).toEqual(Array(4).fill('shadow'));
    expect(one.breaker).toEqual(closedBreaker);
  });
  it('never breaks with a maximum of 0', () => {
    expect(passages(gate({ circuit_breaker_max_notices: 0 }), ['a', 'b', 'c', 'd'])).toEqual(Array(4).fill('post'));
  });
});
