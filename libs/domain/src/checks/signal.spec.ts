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

  it('names at most 20 tools, each by 200 characters, never cut within one', () => {
    const spans = calls(...Array.from({ length: 30 }, (_, at) => ({ tool: `${10 + at}${'😀'.repeat(300)}`, error: 'no', at })));
    const { failing_tools: names } = traceSignal(trace(spans));
    expect(names).toEqual(Array.from({ length: 20 }, (_, at) => `${10 + at}${'😀'.repeat(198)}`));
  });

  it('names a tool once when its names differ only after 200 characters', () => {
    const spans = calls({ tool: `${'x'.repeat(200)}1`, error: 'no' }, { tool: `${'x'.repeat(200)}2`, error: 'no' });
    expect(traceSignal(trace(spans)).failing_tools).toEqual(['x'.repeat(200)]);
  });
});
