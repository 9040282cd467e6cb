import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { calls, tool, trace, turn, type CallFields } from './fixture.js';
import { runCheck } from './run-check.js';

function score(list: readonly CallFields[], more: Record<string, unknown> = {}) {
  const of = trace(calls(...list));
  return runCheck('tool_correctness', of, { turn: turn(of, more), earlierAnswers: [] });
}

describe('tool_correctness', () => {
  it('is not applicable without a tool call', () => {
    expect(score([])).toMatchObject({
      status: 'not_applicable',
      value: null,
      code: 'no_tool_calls',
      source: 'check',
      evaluator: 'check/1',
    });
  });

  it.each<[string, CallFields[], number, string, string[]]>([
    ['all went well', [{ input: 1 }, { input: 2 }], 1, 'ok', []],
    ['one failed by its status', [{ input: 1, status: 'ERROR' }, { input: 2 }], 0.5, 'failed_call', ['a1']],
    ['one failed by its error', [{ input: 1, status: 'OK', error: 'no' }, { input: 2 }], 0.5, 'failed_call', ['a1']],
    ['an empty error is none', [{ input: 1, error: '', status: 'OK' }], 1, 'ok', []],
    [
      'a retry of a failed call is at fault even when it works',
      [{ input: { a: 1, b: 2 }, error: 'no' }, { input: '{"b":2,"a":1}' }],
      0,
      'failed_call',
      ['a1', 'a2'],
    ],
    ['a success before the failure is not a repeat', [{ input: 1 }, { input: 1, error: 'no' }], 0.5, 'failed_call', ['a2']],
    ['calls without recorded arguments are not called identical', [{ error: 'no' }, {}], 0.5, 'failed_call', ['a1']],
    [
      'a name like __proto__ is a name',
      [
        { tool: '__proto__', input: 1, error: 'x' },
        { tool: 'constructor', input: 1 },
      ],
      0.5,
      'failed_call',
      ['a1'],
    ],
  ])('%s', (...[, list, value, code, spans]) => {
    expect(score(list)).toMatchObject({ status: 'scored', value, code, spans });
  });

  describe('of calls that were recorded as successes and read like failures', () => {
    const doubt = { metadata: { outcome_unknown: true } };
    const scoreOf = (list: readonly CallFields[], doubtful: readonly number[], more: Record<string, unknown> = {}) => {
      const of = trace(calls(...list).map((one, at) => (doubtful.includes(at) ? { ...one, ...doubt } : one)));
      return runCheck('tool_correctness', of, { turn: turn(of, more), earlierAnswers: [] });
    };

    it('is not applicable while nothing is known to be wrong: it could only be too high', () => {
      const score = scoreOf([{ input: 1 }, { input: 2 }], [1]);
      expect(score).toMatchObject({ status: 'not_applicable', value: null, code: 'outcome_unknown' });
      expect(score.reason).toMatch(/^1 of 2 tool calls .* "book" \(span a2\)\.$/);
    });

    it('counts what is known to be wrong, and does not judge them', () => {
      expect(scoreOf([{ input: 1, error: 'no' }, { input: 2 }, { input: 3 }], [2])).toMatchObject({ value: 0.5, spans: ['a1'] });
    });

    it('counts one that is wrong whatever came of it', () => {
      const tools = [{ name: 'find' }];
      expect(scoreOf([{ tool: 'fly' }, { tool: 'find' }], [0], { tools })).toMatchObject({ value: 0.5, code: 'unknown_tool' });
      expect(scoreOf([{ input: 1, error: 'no' }, { input: 1 }], [1])).toMatchObject({ value: 0, spans: ['a1', 'a2'] });
    });

    it('believes a failure before a doubt', () => {
      expect(scoreOf([{ input: 1, error: 'no' }], [0])).toMatchObject({ value: 0, code: 'failed_call' });
    });
  });

  it('finds a tool that is not in the recorded catalogue, and asks nothing of an absent or empty one', () => {
    expect(score([{ tool: 'pay' }], { tools: [tool('book')] })).toMatchObject({ value: 0, code: 'unknown_tool', spans: ['a1'] });
    expect(score([{ tool: 'toString' }], { tools: [tool('book')] })).toMatchObject({ value: 0 });
    expect(score([{ tool: 'pay' }], { tools: [] })).toMatchObject({ value: 1 });
    expect(score([{ tool: 'pay' }], { tools: null })).toMatchObject({ value: 1 });
  });

  it('does not judge calls of which nothing is known', () => {
    expect(score([{ status: 'UNSET' }])).toMatchObject({ status: 'not_applicable', code: 'outcome_unknown' });
    expect(score([{ status: 'UNSET' }, { error: 'x' }])).toMatchObject({ value: 0, spans: ['a2'] });
    expect(score([{ status: 'UNSET' }], { tools: [tool('book')] })).toMatchObject({ value: 1 });
  });

  it('counts a span that was delivered twice once, by the version that says more', () => {
    expect(score([{ id: 'x' }, { id: 'x', error: 'late' }, { id: 'y' }, { id: 'y' }])).toMatchObject({
      value: 0.5,
      spans: ['x'],
    });
  });

  it('names the first spans at fault in one short sentence', () => {
    const many = Array.from({ length: 1000 }, (_, n) => ({ tool: `t\n${'x'.repeat(400)}`, input: n, error: 'e' }));
    const { reason, spans, value } = score(many);
    expect(value).toBe(0);
    expect(reason?.length).toBeLessThan(300);
    expect(reason).toMatch(/^1000 of 1000 tool calls at fault: "t xxx/);
    expect(reason).not.toContain('\n');
    expect(spans).toHaveLength(50);
  });

  it('does not depend on the order in which timed spans arrive', () => {
    const list = fc.array(fc.record({ input: fc.integer({ min: 0, max: 2 }), failed: fc.boolean() }), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(list, fc.infiniteStream(fc.nat()), (items, order) => {
        const spans = calls(...items.map(({ input, failed }, at) => ({ input, at, ...(failed ? { error: 'e' } : {}) })));
        const shuffled = spans.map((span) => ({ span, key: order.next().value ?? 0 })).sort((a, b) => a.key - b.key);
        const [one, two] = [trace(spans), trace(shuffled.map(({ span }) => span))];
        const context = { turn: turn(one), earlierAnswers: [] };
        for (const metric of [
          'tool_correctness',
          'step_efficiency',
          'argument_correctness',
          'task_completion',
          'loop_detection',
        ]) {
          expect(runCheck(metric, two, context).value).toBe(runCheck(metric, one, context).value);
        }
      }),
    );
  });
});
