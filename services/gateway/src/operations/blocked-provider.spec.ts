import { describe, expect, it } from '@jest/globals';
import { blockedEntries, blockText, toldText } from './blocked-provider.js';

const block = { project: 'default', provider: 'judge:gpt-9', code: 'auth', detail: 'refused.', since: 1_790_000_000_123_456 };

describe('a blocked provider', () => {
  it('says since when, why and what to do', () => {
    expect(blockText(block)).toBe(
      'judge:gpt-9 is blocked since 2026-09-21T14:13:20Z (auth): refused; give the scoring service a judge_api_key that may use gpt-9, and restart it. It is tried again by itself every few minutes.',
    );
  });

  it.each([
    ['judge:m', 'billing', 'judge_base_url'],
    ['judge:m', 'unpriced', 'model_prices'],
    ['judge:m', 'config', 'judge_model'],
    ['embedding:org/m:8b', 'auth', 'embedding_api_key that may use org/m:8b'],
    ['webhook:tone', 'config', 'metrics.tone'],
  ])('%s with %s advises on %s', (provider, code, words) => {
    expect(blockText({ ...block, provider, code, detail: '' })).toContain(words);
  });

  it('has the name of its health event; those that are too many are counted', () => {
    expect(Object.keys(blockedEntries({ blocks: [block], count: 1 }))).toEqual(['scoring.judge_blocked:default:judge:gpt-9']);
    expect(blockedEntries({ blocks: [block], count: 30 })['scoring.judge_blocked:others']).toMatch(/^29 more/);
    expect(blockedEntries({ blocks: [], count: 0 })).toEqual({});
  });

  it.each([
    ['scoring.judge_blocked:default:judge:m', false],
    ['scoring.judge:org/m:8b', false],
    ['scoring.embedding:m', false],
    ['scoring.default webhook:tone', false],
    ['scoring.default responder:tone', false],
    ['scoring.broker', true],
    ['mailbox.database', true],
  ])('is not heard of in its own words where no key is needed, others are: %s', (name, itself) => {
    expect(toldText(name, 'it quoted a trace') === 'it quoted a trace').toBe(itself);
  });

  it('is told without the words of its endpoint where no key is needed', () => {
    const quoted = { ...block, detail: 'refused: my bank account is 12345' };
    expect(Object.values(blockedEntries({ blocks: [quoted], count: 1 }))).toEqual([
      'judge:gpt-9 is blocked since 2026-09-21T14:13:20Z (auth): give the scoring service a judge_api_key that may use gpt-9, and restart it. It is tried again by itself every few minutes.',
    ]);
  });
});
