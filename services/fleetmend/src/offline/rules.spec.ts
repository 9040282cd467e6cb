import { describe, expect, it } from '@jest/globals';
import { answerNovelty, answerRank } from './rules.js';
import { answerScope } from './scope.js';

const created_at = '2026-08-05T00:00:00+00:00';
const stored = { id: 'r-1', rule: 'Check the status first.', scope: 'payments', status: 'active', created_at };

describe('scope check', () => {
  it('answers all contexts, or the one that is asked for', () => {
    expect(answerScope({ input: 'my host' })).toMatchObject({
      normalize: 'my-host',
      repair_add: {
        plain: { scope: 'my-host' },
        host_labels: { scope: 'scoped' },
        host_labels_hint_payments: { scope: 'payments' },
      },
      task_read: { accepted: false },
    });
    expect(answerScope({ input: null, context: 'plain' })).toEqual({
      normalize: 'global',
      normalize_or_none: null,
      repair_add: { plain: { accepted: true, scope: 'global' } },
    });
  });
  it.each<[unknown, string]>([
    [{}, 'input'],
    [{ input: 1 }, 'input: a text'],
    [{ input: 'a', context: 'other' }, 'context: one of'],
  ])('refuses %j', (line, reason) => {
    expect(() => answerScope(line)).toThrow(reason);
  });
});

describe('rules novelty', () => {
  it('takes rules and proposals without tags and signatures', () => {
    const proposal = { rule: 'check the STATUS first', scope: 'orders' };
    expect(answerNovelty({ existing: [stored], proposal })).toMatchObject({ verdict: 'duplicate', check: 'exact_text' });
  });
  it.each<[unknown, string]>([
    [{ existing: [] }, 'proposal: an object'],
    [{ existing: [{ ...stored, status: 'lost' }], proposal: stored }, 'existing.0.status: one of'],
    [{ existing: [{ ...stored, created_at: 'soon' }], proposal: stored }, 'created_at'],
  ])('refuses %j', (line, reason) => {
    expect(() => answerNovelty(line)).toThrow(reason);
  });
});

describe('rules rank', () => {
  it('takes rules without rationale, metric and tags', () => {
    expect(answerRank({ rules: [stored], query: 'status', limit: 5 })).toMatchObject({
      search_live: [['r-1', 1]],
      by_scope: { payments: ['r-1'] },
    });
  });
  it('lists a scope without rules when a golden answer names it', () => {
    expect(answerRank({ rules: [], query: '', limit: 1, by_scope: { global: [] } })).toMatchObject({ by_scope: { global: [] } });
  });
  it('refuses a line without a limit', () => {
    expect(() => answerRank({ rules: [], query: '' })).toThrow('limit');
  });
});
