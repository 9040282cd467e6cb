import { score as scoreSchema } from '../../../contracts/src/scoring.events.js';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { trace, turn } from './fixture.js';
import { checkedMetrics, hasCheck, runCheck, traceSignal } from './index.js';

const json = fc.jsonValue({ maxDepth: 4 });
const hostile = fc.oneof(
  json,
  json.map((value) => JSON.stringify(value)),
  fc.string(),
  fc.bigInt(),
  fc.constant(undefined),
);
const span = fc.record({
  span_id: fc.constantFrom('a', 'b', 'c', 'd'),
  name: fc.constantFrom('book', 'pay', '__proto__', ''),
  kind: fc.constantFrom('TOOL' as const, 'TOOL' as const, 'LLM' as const, 'AGENT' as const),
  status: fc.constantFrom('UNSET' as const, 'OK' as const, 'ERROR' as const),
  input: hostile,
  output: hostile,
  error: fc.option(hostile, { nil: undefined }),
  started_at: fc.option(fc.nat(5), { nil: undefined }),
});
const tools = fc.array(
  fc.record({
    name: fc.constantFrom('book', 'pay'),
    parameters: fc.option(
      fc.dictionary(fc.constantFrom('type', 'properties', 'required', '$ref', 'pattern', 'items', 'allOf', 'x'), json),
    ),
  }),
);

describe('runCheck', () => {
  it('knows the six checks, and no other metric', () => {
    expect([...checkedMetrics].sort()).toEqual([
      'argument_correctness',
      'coherence',
      'loop_detection',
      'step_efficiency',
      'task_completion',
      'tool_correctness',
    ]);
    expect(['plan_quality', 'outcome_correct', '__proto__', 'toString'].map(hasCheck)).toEqual([false, false, false, false]);
    const of = trace([]);
    expect(runCheck('plan_quality', of, { turn: turn(of), earlierAnswers: [] })).toEqual({
      metric: 'plan_quality',
      trace_id: 't1',
      status: 'not_applicable',
      value: null,
      source: 'check',
      evaluator: 'check/1',
      reason: 'This metric needs a model, and none is configured.',
      code: 'no_model',
      spans: [],
    });
  });

  it('answers any JSON with a score of the contract, a value in [0, 1] and one short sentence', () => {
    fc.assert(
      fc.property(
        fc.array(span, { maxLength: 6 }),
        tools,
        fc.record({ input: hostile, output: hostile, end_state: hostile }),
        (spans, catalogue, texts) => {
          const of = trace(spans, { input: texts.input, output: texts.output });
          const context = { turn: turn(of, { tools: catalogue, end_state: texts.end_state }), earlierAnswers: ['earlier'] };
          for (const metric of checkedMetrics) {
            const found = runCheck(metric, of, context);
            expect(scoreSchema.safeParse(found).success).toBe(true);
            expect(found.value === null).toBe(found.status !== 'scored');
            expect(found.value === null || (found.value >= 0 && found.value <= 1)).toBe(true);
            expect(found.reason?.length).toBeLessThan(300);
            expect(found.code).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
            expect(runCheck(metric, structuredClone(of), context)).toEqual(found);
          }
          expect((traceSignal(of).error ?? '').length).toBeLessThanOrEqual(1000);
        },
      ),
      { numRuns: 300 },
    );
  });
});
