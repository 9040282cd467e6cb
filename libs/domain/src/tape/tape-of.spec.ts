import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Span, Trace } from '#contracts';
import { tapeOf } from './tape-of.js';

const span = (name: string, more: Partial<Span> = {}): Span => ({
  ...{ span_id: `${name}-${JSON.stringify(more)}`, name, kind: 'TOOL', status: 'OK', input: {}, output: 1 },
  ...more,
});
const trace = (...spans: Span[]): Trace => ({ trace_id: 't', started_at: 0, spans });
const tape = (spans: Span[], max?: number) => tapeOf({ traces: [trace(...spans)] }, max);

describe('a tape', () => {
  it('has the tool calls of every trace in the order in which they started, and nothing else', () => {
    const late = span('late', { started_at: 9 });
    const early = span('early', { started_at: 2, input: '{"a": 1}', output: { b: [2] } });
    const model = span('model', { kind: 'LLM', started_at: 1 });
    expect(tapeOf({ traces: [trace(late, model, early), trace(span('next', { started_at: 0 }))] })).toEqual({
      calls: [
        { tool: 'early', arguments: '{"a": 1}', result: { b: [2] }, error: null },
        { tool: 'late', arguments: {}, result: 1, error: null },
        { tool: 'next', arguments: {}, result: 1, error: null },
      ],
      cut: false,
    });
  });

  it('of a turn without traces is empty', () => {
    expect(tapeOf({})).toEqual({ calls: [], cut: false });
  });

  it.each([
    ['the text of a failure', { status: 'ERROR', error: { message: 'no such order' } }, 'no such order'],
    ['a text', { error: 'refused' }, 'refused'],
    ['the output of one that says no more', { status: 'ERROR', output: 'Error: away' }, 'Error: away'],
    ['a sentence of its own', { status: 'ERROR', output: null }, 'the recorded call failed'],
  ] as const)('says how a call failed: %s', (_, more, error) => {
    expect(tape([span('x', more)]).calls).toMatchObject([{ error }]);
  });

  it('leaves out a call of which nothing tells how it went, and keeps one that went well and gave nothing', () => {
    const silent = span('silent', { status: 'UNSET', output: undefined });
    expect(tape([silent, span('void', { output: undefined })])).toEqual({
      calls: [{ tool: 'void', arguments: {}, result: null, error: null }],
      cut: false,
    });
  });

  it('leaves out what does not fit, keeps what does, and says so', () => {
    const found = tape([span('a'), span('large', { output: 'x'.repeat(500) }), span('b')], 300);
    expect(found.calls.map(({ tool }) => tool)).toEqual(['a', 'b']);
    expect(found.cut).toBe(true);
  });

  it('is never larger than its bound, is a part of what was recorded in its order, and whole where there is room', () => {
    const spans = fc.array(fc.record({ name: fc.string({ minLength: 1 }), input: fc.jsonValue(), output: fc.jsonValue() }));
    fc.assert(
      fc.property(spans, fc.integer({ min: 0, max: 2_000 }), (given, max) => {
        const recorded = given.map((one, at) => span(one.name, { ...one, span_id: `${at}`, started_at: at }));
        const whole = tape(recorded);
        const { calls, cut } = tape(recorded, max);
        expect(Buffer.byteLength(JSON.stringify(calls)) - 2).toBeLessThanOrEqual(max);
        expect(whole.calls).toHaveLength(recorded.length);
        expect(cut).toBe(calls.length < recorded.length);
        let at = 0;
        for (const call of calls) {
          while (at < whole.calls.length && JSON.stringify(whole.calls[at]) !== JSON.stringify(call)) at += 1;
          expect(at).toBeLessThan(whole.calls.length);
          at += 1;
        }
      }),
    );
  });
});
