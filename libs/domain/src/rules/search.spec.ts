import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { byNewest, byScope, byStanding, firstOf } from './order.js';
import { SearchIndex, type SearchableRule } from './search-index.js';

const rule = (id: string, text: string, more: Partial<SearchableRule> = {}): SearchableRule => ({
  id,
  rule: text,
  scope: 'payments',
  status: 'active',
  created_at: Number(id.slice(2)),
  rationale: '',
  metric: null,
  tags: [],
  ...more,
});
const all = (): boolean => true;

const anyRules = fc
  .array(
    fc.record({
      text: fc.array(fc.constantFrom('pay', 'retry', 'page', 'lock'), { maxLength: 4 }).map((words) => words.join(' ')),
      tags: fc.subarray(['pay', 'retry:page']),
      created_at: fc.nat(2),
      status: fc.constantFrom('active' as const, 'candidate' as const, 'retired' as const),
    }),
    { maxLength: 12 },
  )
  .map((list) => list.map(({ text, ...more }, at) => rule(`r-${at}`, text, more)));

describe('search', () => {
  it('weighs a tag twice a word of the text, and gives nothing for neither', () => {
    const index = new SearchIndex([
      rule('r-1', 'database lock'),
      rule('r-2', 'check the payment'),
      rule('r-3', 'anything', { tags: ['payment'] }),
    ]);
    expect(index.rank('payment', 10, all).map((one) => [one.rule.id, one.score])).toEqual([
      ['r-3', 2],
      ['r-2', 1],
      ['r-1', 0],
    ]);
  });
  it('reads signatures as their two words and metric names as one', () => {
    const index = new SearchIndex([rule('r-1', 'x', { tags: ['breach:tool_correctness'] }), rule('r-2', 'tool correctness x')]);
    expect(index.rank('tool_correctness', 1, all)).toMatchObject([{ rule: { id: 'r-1' }, score: 2 }]);
    expect(index.rank('breach:tool_correctness', 1, all)[0]?.score).toBe(2);
  });
  it('finds words of the rationale and the metric', () => {
    const index = new SearchIndex([rule('r-1', 'x', { rationale: 'The ledger was stale', metric: 'coherence' })]);
    expect(index.rank('ledger coherence', 1, all)[0]?.score).toBe(1);
  });
  it('orders as a full sort would, also after changes, and never shows more than asked', () => {
    fc.assert(
      fc.property(
        anyRules,
        anyRules,
        fc.constantFrom('', 'pay', 'retry page', 'the pay lock'),
        fc.nat(14),
        (before, after, query, limit) => {
          const index = new SearchIndex(before);
          for (const one of after) index.set(one);
          const ranked = index.rank(query, 100, all);
          expect(ranked).toHaveLength(new Set([...before, ...after].map(({ id }) => id)).size);
          expect([...ranked].sort((a, b) => b.score - a.score || byNewest(a.rule, b.rule))).toEqual(ranked);
          expect(index.rank(query, limit, all)).toEqual(ranked.slice(0, limit));
        },
      ),
    );
  });
  it('forgets a deleted rule', () => {
    const index = new SearchIndex([rule('r-1', 'pay'), rule('r-2', 'pay')]);
    index.delete('r-1');
    index.delete('r-7');
    expect(index.get('r-1')).toBeUndefined();
    expect(index.rank('pay', 5, all).map((one) => one.rule.id)).toEqual(['r-2']);
  });
  it('keeps every global rule as relevant, and the best of the others', () => {
    const index = new SearchIndex([
      rule('r-4', 'unrelated', { scope: 'global' }),
      rule('r-1', 'tagged', { scope: 'global', tags: ['pay'] }),
      rule('r-2', 'lock'),
      rule('r-3', 'pay'),
      rule('r-5', 'pay', { status: 'candidate' }),
    ]);
    expect(index.relevant('pay', 1).map(({ id }) => id)).toEqual(['r-1', 'r-4', 'r-3']);
    expect(index.relevant('nothing', 1).map(({ id }) => id)).toEqual(['r-1', 'r-4', 'r-3']);
  });
});

describe('the orders', () => {
  it.each([
    ['byNewest', byNewest],
    ['byStanding', byStanding],
  ])('%s is total: no two rules tie, and it does not contradict itself', (_, compare) => {
    fc.assert(
      fc.property(anyRules, (list) => {
        for (const a of list)
          for (const b of list) {
            expect(Math.sign(compare(a, b))).toBe(-Math.sign(compare(b, a)) + 0);
            expect(compare(a, b) === 0).toBe(a.id === b.id);
          }
        expect([...list].reverse().sort(compare)).toEqual([...list].sort(compare));
      }),
    );
  });
  it('put global before all other scopes', () => {
    expect(['zebra', 'scoped', 'global', 'alpha'].sort(byScope)).toEqual(['global', 'alpha', 'scoped', 'zebra']);
  });
  it('give the first of a list as sorting and cutting would', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20)), fc.integer({ min: -1, max: 12 }), (list, limit) => {
        const compare = (a: number, b: number): number => a - b;
        expect(firstOf(list, limit, compare)).toEqual([...list].sort(compare).slice(0, Math.max(0, limit)));
      }),
    );
  });
});
