import { describe, expect, it } from '@jest/globals';
import { repairNotice, traceFacts } from './fixture.js';
import { noticeView, traceView } from './views.js';

const span = (span_id: string, more: object = {}) => ({
  span_id,
  name: 'pay',
  kind: 'TOOL',
  status: 'OK',
  input: {},
  output: 'paid',
  ...more,
});
type View = { tool_calls: { span_id: string; input: string }[]; [key: string]: unknown };

describe('what a trace shows to a repair', () => {
  it('is its tool calls, its scores and the tools there were, and no other spans', () => {
    const spans = [span('a', { status: 'ERROR', error: { message: 'no such bill' } }), span('b', { kind: 'LLM' })];
    const score = { metric: 'coherence', tier: 1, status: 'scored', value: 1, reason: 'fine', code: null, spans: [] };
    const view = traceView(traceFacts({ trace: { spans }, tools: [{ name: 'pay' }], scores: [score] }));
    expect(view).toMatchObject({
      tools_offered: ['pay'],
      tool_calls_left_out: 0,
      scores: [{ metric: 'coherence', reason: 'fine' }],
    });
    expect((view as View).tool_calls).toEqual([
      { span_id: 'a', tool: 'pay', status: 'ERROR', input: '{}', output: 'paid', error: '{"message":"no such bill"}' },
    ]);
  });
  it('has no secrets, no control characters, and no part longer than 2000 characters', () => {
    const input = { password: 'hunter2', text: `\u001b[31m${'x'.repeat(10_000)}` };
    const [call] = (traceView(traceFacts({ trace: { spans: [span('a', { input })] } })) as View).tool_calls;
    expect(Array.from(call?.input ?? '')).toHaveLength(2_000);
    expect(call?.input).toContain('"password":"[redacted]"');
    expect(call?.input).not.toContain('\u001b');
  });
  it('keeps failed calls when there are too many, in their order', () => {
    const spans = Array.from({ length: 100 }, (_, at) => span(`s${at}`, at === 97 ? { status: 'ERROR' } : {}));
    const view = traceView(traceFacts({ trace: { spans } })) as View;
    expect(view.tool_calls).toHaveLength(40);
    expect(view.tool_calls.at(-1)?.span_id).toBe('s97');
    expect(view['tool_calls_left_out']).toBe(60);
  });
  it('says when it was flagged and is not stored', () => {
    expect(traceView(traceFacts({ trace: null }))).toMatchObject({ recorded: false, tool_calls: [] });
  });
});

describe('what a notice shows to a repair', () => {
  it('is its report by trace', () => {
    const score = {
      ...{
        metric: 'coherence',
        trace_id: 't1',
        status: 'scored' as const,
        value: 0.3,
        source: 'lexical',
        evaluator: 'check/1',
        reason: 'off',
      },
      ...{ code: null, spans: [], tier: 1 as const, threshold: 0.5, conditions: ['stall' as const] },
    };
    const report = {
      ...{ session_id: 's', turn_index: 0, revision: 1, accepted_at: 1, complete: true, partial: false, skipped: null },
      ...{ severity: 'trend' as const, signatures: [], fired: ['stall:coherence'], flagged_traces: ['t1'], signals: [] },
      scores: [score, { ...score, metric: 'task_completion' }, { ...score, trace_id: 't2' }],
    };
    const facts = { notices: [], report, signals: null, end_state: null, agent_version: null, model: null, task_summary: null };
    expect(noticeView(repairNotice(), facts)).toMatchObject({
      notice_id: 'n-1',
      report: {
        severity: 'trend',
        fired: ['stall:coherence'],
        traces: [{ trace_id: 't1', scores: [{ metric: 'coherence' }, { metric: 'task_completion' }] }, { trace_id: 't2' }],
      },
    });
  });
});
