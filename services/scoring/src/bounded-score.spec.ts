import { describe, expect, it } from '@jest/globals';
import type { Score } from '#contracts';
import { boundedScore } from './bounded-score.js';

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
    expect(reason).toBe('😀'.repeat(2_000));
    expect(named).toEqual(spans.slice(0, 50));
  });
});
