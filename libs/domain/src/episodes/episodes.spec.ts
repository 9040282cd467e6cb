import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { groupNotices, recommendedScope } from './episodes.js';
import { fingerprint, normalError } from './fingerprint.js';

const notice = (id: string, signatures: string[], flagged_traces: string[] = [], turn_index = 0) => ({
  id,
  session_id: 's',
  turn_index,
  signatures,
  flagged_traces,
});
const ids = (groups: { id: string }[][]) => groups.map((group) => group.map(({ id }) => id));

describe('episodes', () => {
  it('group what shares a signature or a flagged trace, transitively', () => {
    expect(
      ids(groupNotices([notice('c', [], ['y']), notice('a', ['x']), notice('b', ['x'], ['y']), notice('d', ['z'])])),
    ).toEqual([['a', 'b', 'c'], ['d']]);
  });
  it('do not reach over turns', () => {
    expect(ids(groupNotices([notice('a', ['x'], [], 1), notice('b', ['x'], [], 2)]))).toEqual([['a'], ['b']]);
  });
  it('do not depend on the order of the notices, and hold each once', () => {
    const links = fc.subarray(['p', 'q', 'r', 's']);
    fc.assert(
      fc.property(fc.array(fc.tuple(links, links), { maxLength: 12 }), fc.nat(), (list, seed) => {
        const notices = list.map(([signatures, traces], index) => notice(String(index).padStart(2, '0'), signatures, traces));
        const shuffled = [...notices].sort((a, b) => ((Number(a.id) * 7 + seed) % 13) - ((Number(b.id) * 7 + seed) % 13));
        const groups = ids(groupNotices(notices));
        expect(ids(groupNotices(shuffled))).toEqual(groups);
        expect(groups.flat().sort()).toEqual(notices.map(({ id }) => id));
      }),
    );
  });
  it('recommend the first precise scope', () => {
    expect(recommendedScope([null, 'global', 'scoped', 'appworld', 'payments', 'x'], new Set(['appworld']))).toBe('payments');
    expect(recommendedScope([null, 'scoped'])).toBeNull();
  });
});

describe('a fault', () => {
  it.each([
    ['Timeout after 3000 ms at 0x7ffe12', 'timeout after # ms at #'],
    ['No order "A-12" for user \'bob\'', 'no order # for user #'],
    ['trace 550e8400-e29b-41d4-a716-446655440000 failed', 'trace # failed'],
    ['added a bad face', 'added a bad face'],
  ])('%s reads as %s', (text, normal) => {
    expect(normalError(text)).toBe(normal);
  });
  it('is the same fault for other numbers and names, and another for another tool', () => {
    const of = (tool: string, error: string) => fingerprint(['breach:x'], [{ trace_id: 't', failing_tools: [tool], error }]);
    expect(of('pay', 'no order 17')).toBe(of('pay', 'no order 18'));
    expect(of('pay', 'no order 17')).not.toBe(of('refund', 'no order 17'));
  });
  it('has no fingerprint without a failing tool or an error text', () => {
    expect(fingerprint(['stall:x'], [{ trace_id: 't', failing_tools: [], error: ' ' }])).toBeNull();
  });
});
