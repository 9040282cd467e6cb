import { describe, expect, it } from '@jest/globals';
import { checkRuleMetric, failureSignatures, ruleTags, type NoticeMarks } from './provenance.js';

const notice: NoticeMarks = {
  signatures: ['breach:tool_correctness', 'stall:coherence'],
  metrics: [{ metric: 'tool_correctness' }, { metric: 'coherence' }],
  severity: 'breach',
  signals: [{ failing_tools: ['refund_order', 'Refund_Order'] }, { failing_tools: [] }],
};

describe('a rule is marked with', () => {
  it('the proposed tags, then signatures, metrics, failing tools and severity of its notices, each once', () => {
    expect(ruleTags([' Payments ', ''], [notice, notice])).toEqual([
      'payments',
      'breach:tool_correctness',
      'stall:coherence',
      'tool_correctness',
      'coherence',
      'refund_order',
      'breach',
    ]);
  });
  it('16 tags and 16 signatures at most', () => {
    const many = Array.from({ length: 20 }, (_, at) => `breach:m${at}`);
    expect(ruleTags(['x'], [{ ...notice, signatures: many }])).toHaveLength(16);
    expect(failureSignatures([{ signatures: many }, notice])).toEqual(many.slice(0, 16));
  });
  it('a metric that is known, or none', () => {
    const known = ['coherence', 'own_metric'];
    expect(checkRuleMetric(' own_metric ', known)).toEqual({ accepted: true, metric: 'own_metric' });
    expect([null, undefined, ' '].map((metric) => checkRuleMetric(metric, known))).toEqual(
      Array.from({ length: 3 }, () => ({ accepted: true, metric: null })),
    );
    expect(checkRuleMetric('coherence; own_metric', known)).toMatchObject({
      accepted: false,
      error: expect.stringContaining('name one of coherence, own_metric'),
    });
  });
});
