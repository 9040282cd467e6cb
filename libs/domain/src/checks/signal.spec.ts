import { describe, expect, it } from '@jest/globals';
import { call, calls, trace } from './fixture.js';
import { traceSignal } from './signal.js';

describe('the signal of a trace', () => {
  it('is empty when nothing failed', () => {
    expect(traceSignal(trace(calls({ output: 'Error: only a text' })))).toEqual({
      trace_id: 't1',
      failing_tools: [],
      error: null,
    });
  });

  it('names the tools that failed, sorted and once each, and the earliest error', () => {
    const spans = calls(
      { tool: 'b', error: 'second', at: 2 },
      { tool: 'a', error: 'first', at: 1 },
      { tool: 'b', error: 'third', at: 3 },
      { tool: 'ok' },
    );
    expect(traceSignal(trace(spans))).toEqual({ trace_id: 't1', failing_tools: ['a', 'b'], error: 'first' });
  });

  it.each<[unknown, unknown, string | null]>([
    [{ message: 'm', type: 't' }, undefined, 'm'],
    [{ error: { message: 'inner' } }, undefined, 'inner'],
    [{ code: 7 }, undefined, '{"code":7}'],
    [undefined, 'Error: from the output', 'Error: from the output'],
    [true, undefined, null],
  ])('reads error %j with output %j', (error, output, text) => {
    expect(traceSignal(trace([call({ status: 'ERROR', error, output })])).error).toBe(text);
  });

  it('takes the error of another span when no tool has one, which names no tool', () => {
    const spans = [{ ...call({ error: 'provider down' }), kind: 'LLM' as const }];
    expect(traceSignal(trace(spans))).toEqual({ trace_id: 't1', failing_tools: [], error: 'provider down' });
  });

  it('cuts the error at 500 characters, never within one', () => {
    const { error } = traceSignal(trace([call({ error: '😀'.repeat(600) })]));
    expect(error).toBe('😀'.repeat(500));
  });
});
