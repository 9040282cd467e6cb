import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { NoveltyIndex } from './novelty-index.js';
import { coverOf, LEAST_CONTAINMENT, normalRuleText, overlapOf, traitsOf, type ComparedRule } from './novelty.js';

const stored = (id: string, rule: string, more: Partial<ComparedRule> = {}): ComparedRule => ({
  id,
  rule,
  scope: 'payments',
  status: 'active',
  created_at: Number(id.slice(2)),
  tags: [],
  failure_signatures: [],
  ...more,
});
const proposal = (rule: string, more: Partial<ComparedRule> = {}): ComparedRule => stored('r-0', rule, more);

const WORDS = ['pay', 'retry', 'ledger', 'status', 'queue', 'cart', 'lock', 'page'];
const anyRule = fc
  .record({
    rule: fc.array(fc.constantFrom(...WORDS), { maxLength: 9 }).map((words) => words.join(' ')),
    scope: fc.constantFrom('a', 'b'),
    status: fc.constantFrom('active' as const, 'candidate' as const, 'retired' as const),
    tags: fc.subarray(['x', 'y', 'z', 'breach', 'stall:m']),
    failure_signatures: fc.subarray(['breach:m', 'stall:m']),
    created_at: fc.nat(3),
  })
  .map((rule) => ({ id: '', ...rule }));
const rules = fc.array(anyRule, { maxLength: 12 }).map((list) => list.map((rule, at) => ({ ...rule, id: `r-${at}` })));

/** By comparing with every rule, one by one. */
function coversByHand(asked: ComparedRule, list: readonly ComparedRule[]): string[] {
  const ours = traitsOf(asked);
  return list
    .filter(({ status }) => status !== 'retired')
    .filter((rule) => {
      const theirs = traitsOf(rule);
      const shared = [...ours.tokens].filter((token) => theirs.tokens.has(token)).length;
      return ours.text === theirs.text || (ours.scope === theirs.scope && coverOf(ours, theirs, shared) !== null);
    })
    .map(({ id }) => id)
    .sort();
}

describe('novelty', () => {
  it('finds what a comparison with every rule finds, also after changes', () => {
    fc.assert(
      fc.property(rules, rules, anyRule, (before, after, asked) => {
        const index = new NoveltyIndex(before);
        for (const rule of after) index.set(rule);
        const list = [...new Map([...before, ...after].map((rule) => [rule.id, rule])).values()];
        const found = index.check(asked).covers.map(({ rule }) => rule.id);
        expect([...found].sort()).toEqual(coversByHand(asked, list));
        expect(index.size).toBe(list.filter(({ status }) => status !== 'retired').length);
      }),
    );
  });
  it('is mutual: of two live rules of a scope each covers the other by the same check, or neither', () => {
    fc.assert(
      fc.property(anyRule, anyRule, (one, other) => {
        const checkOf = (a: ComparedRule, b: ComparedRule): string | undefined =>
          new NoveltyIndex([{ ...a, status: 'active' as const }]).check(b).covers[0]?.check;
        expect(checkOf(one, other)).toBe(checkOf(other, one));
      }),
    );
  });
  it('never says novel of a live rule itself', () => {
    fc.assert(
      fc.property(anyRule, (rule) => {
        const { verdict, covers } = new NoveltyIndex([rule]).check(rule);
        expect(covers.map(({ check }) => check)).toEqual(verdict === 'novel' ? [] : ['exact_text']);
        expect(verdict === 'novel').toBe(rule.status === 'retired');
      }),
    );
  });
  it('passes over no cover for having too few words in common', () => {
    fc.assert(
      fc.property(fc.nat(60), fc.nat(60), fc.nat(60), (a, b, common) => {
        const shared = Math.min(a, b, common);
        const { jaccard, containment } = overlapOf(shared, a, b);
        if (jaccard >= 0.3 || containment >= 0.55) expect(shared).toBeGreaterThanOrEqual(Math.min(a, b) * LEAST_CONTAINMENT);
      }),
    );
  });
  it('names a candidate before active rules, then the newest, then the smaller id', () => {
    const text = 'Paginate every result page';
    const list = [
      stored('r-1', text, { status: 'candidate' }),
      stored('r-2', text, { status: 'candidate' }),
      stored('r-9', text),
      stored('r-3', text, { status: 'candidate', created_at: 2 }),
    ];
    const novelty = new NoveltyIndex(list).check(proposal(text));
    expect(novelty.covers.map(({ rule }) => rule.id)).toEqual(['r-2', 'r-3', 'r-1', 'r-9']);
    expect(novelty).toMatchObject({ verdict: 'already_covered', by: { rule: { id: 'r-2' }, check: 'exact_text' } });
  });
  it('looks for equal texts in all scopes and for like ones in the same', () => {
    const index = new NoveltyIndex([stored('r-1', 'Verify the payment status before retrying a charge.')]);
    expect(index.check(proposal('verify the PAYMENT status  before retrying a charge!', { scope: 'orders' })).verdict).toBe(
      'duplicate',
    );
    expect(index.check(proposal('Verify payment status before retrying the charge', { scope: 'orders' })).verdict).toBe('novel');
    expect(index.check(proposal('Verify payment status before retrying the charge', { scope: 'Payments' })).verdict).toBe(
      'duplicate',
    );
  });
  it('asks for likeness last, in the same scope, and only above the threshold', () => {
    const index = new NoveltyIndex([
      stored('r-1', 'alpha beta'),
      stored('r-2', 'gamma delta'),
      stored('r-3', 'gamma delta', { scope: 'orders' }),
      stored('r-4', 'epsilon'),
    ]);
    const cosines = new Map([
      ['r-1', 0.99],
      ['r-2', 0.91],
      ['r-3', 1],
    ]);
    const likeness = { cosineWith: (id: string) => cosines.get(id) ?? null, threshold: 0.9 };
    const checks = index.check(proposal('alpha beta.'), likeness).covers.map(({ rule, check }) => [rule.id, check]);
    expect(checks).toEqual([
      ['r-2', 'semantic_duplicate'],
      ['r-1', 'exact_text'],
    ]);
    expect(index.check(proposal('zeta'), { ...likeness, threshold: 0.99 }).verdict).toBe('novel');
  });
  it.each([
    ['Check the  Straße.;', 'CHECK THE STRASSE'],
    ['!!!', ''],
  ])('compares %j as %j', (a, b) => {
    expect(normalRuleText(a)).toBe(normalRuleText(b));
  });
});
