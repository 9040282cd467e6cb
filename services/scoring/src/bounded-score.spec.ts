import { describe, expect, it } from '@jest/globals';
import type { Score } from '#contracts';
import { boundedReason, boundedScore } from './bounded-score.js';

const score = (more: Partial<Score>): Score => ({
  ...{ metric: 'coherence', trace_id: 't', status: 'scored', value: 0, source: 'check', evaluator: 'check/1', code: null },
  ...{ reason: 'short', spans: ['a'], ...more },
});

describe('a score that travels', () => {
  it('is as it was when it is small', () => {
    expect(boundedScore(score({}))).toEqual(score({}));
    expect(boundedScore(score({ reason: null })).reason).toBeNull();
  });
  it('gives its reason in at most 2,000 characters, never cut within one, and at most 50 spans', () => {
    const spans = Array.from({ length: 80 }, (_, index) => `span-${index}`);
    const { reason, spans: named } = boundedScore(score({ reason: '😀'.repeat(3_000), spans }));
    expect(reason).toBe(`${'😀'.repeat(1_988)}…[truncated]`);
    expect(named).toEqual(spans.slice(0, 50));
  });
});

describe("an endpoint's words", () => {
  it.each([
    ['a key', 'Incorrect API key: sk-proj-0123456789abcdefghij0123', /sk-proj/],
    ['a header', 'Authorization: Bearer 0123456789abcdefghijklmnop was refused', /0123456789abcdef/],
    ['an address with a password', 'cannot reach https://me:hunter22@models.example/v1', /hunter22/],
    ['what steers a terminal', 'no \u001b[31mcredit\u202e left', /[\u001b\u202e]/],
  ])('are kept without %s', (_, said, secret) => {
    const kept = boundedReason(said) ?? '';
    expect(kept).not.toMatch(secret);
    expect(kept.length).toBeGreaterThan(10);
    expect(boundedReason(kept)).toBe(kept);
  });

  it('are cut only when they are clean, so that no half of a key is left at the end', () => {
    const key = 'sk-proj-0123456789abcdefghij0123456789';
    expect(boundedReason(`${'x '.repeat(985)}${key} ${'y'.repeat(100)}`)).not.toContain('sk-proj');
  });
});
