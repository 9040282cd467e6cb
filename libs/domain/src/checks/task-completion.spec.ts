import { describe, expect, it } from '@jest/globals';
import { call, calls, trace, turn, type CallFields } from './fixture.js';
import { runCheck } from './run-check.js';

function score(list: readonly CallFields[], ofTrace: Record<string, unknown> = {}, ofTurn: Record<string, unknown> = {}) {
  const of = trace(calls(...list), ofTrace);
  return runCheck('task_completion', of, { turn: turn(of, ofTurn), earlierAnswers: [] });
}

const answered = { output: 'done' };
const done = { status: 'completed' };
const llm = {
  span_id: 'm',
  name: 'chat',
  kind: 'LLM' as const,
  status: 'OK' as const,
  output: { role: 'assistant', content: null },
};

describe('task_completion', () => {
  it('costs a little where nobody recorded whether a call failed, and a failure where one was left', () => {
    const of = (list: readonly CallFields[], doubtful: number) => {
      const spans = calls(...list).map((one, at) => (at === doubtful ? { ...one, metadata: { outcome_unknown: true } } : one));
      const doubted = trace(spans, answered);
      const { value, code } = runCheck('task_completion', doubted, { turn: turn(doubted, done), earlierAnswers: [] });
      return [value, code];
    };
    expect(of([{}, { tool: 'pay' }], 0)).toEqual([0.9, 'tool_outcome_unknown']);
    expect(of([{}, {}], 0)).toEqual([1, 'ok']);
    expect(of([{ error: 'e' }, {}], 1)).toEqual([0.7, 'tool_error_left']);
    expect(of([{}, { tool: 'pay', error: 'e' }], 0)).toEqual([0.4, 'ended_on_tool_error']);
  });

  it('is not applicable when nothing was recorded', () => {
    expect(score([])).toMatchObject({ status: 'not_applicable', value: null, code: 'no_evidence' });
  });

  it.each<[string, CallFields[], Record<string, unknown>, Record<string, unknown>, number, string]>([
    ['a healthy turn', [{ input: 1 }], answered, done, 1, 'ok'],
    ['a recovered tool error', [{ error: 'e' }, {}], answered, done, 1, 'ok'],
    ['the last tool call failed', [{}, { tool: 'pay', error: 'e' }], answered, done, 0.4, 'ended_on_tool_error'],
    ['another tool went well after the failure', [{ error: 'e' }, { tool: 'pay' }], answered, done, 0.7, 'tool_error_left'],
    [
      'a success before the failure does not recover it',
      [{}, { error: 'e' }, { tool: 'pay' }],
      answered,
      done,
      0.7,
      'tool_error_left',
    ],
    ['an error turn', [], answered, { status: 'error' }, 0.2, 'turn_failed'],
    ['a turn with an error beside', [], answered, { ...done, error: { type: 'x' } }, 0.2, 'turn_failed'],
    ['an error trace', [], { ...answered, status: 'ERROR' }, done, 0.2, 'turn_failed'],
    ['an aborted turn', [], answered, { status: 'aborted' }, 0.3, 'turn_aborted'],
    ['an error turn with a failed call', [{ error: 'e' }], answered, { status: 'error' }, 0.08, 'turn_failed'],
    ['an empty answer', [], { output: '' }, done, 0.5, 'no_answer'],
    ['an empty message', [], { output: { role: 'assistant', content: null } }, done, 0.5, 'no_answer'],
    ['an answer that is data', [], { output: { approved: true } }, done, 1, 'ok'],
    ['an answer that was not recorded', [], {}, done, 0.9, 'answer_not_recorded'],
    ['a turn that ended by acting', [{}], { output: '' }, done, 0.9, 'acted_without_words'],
    ['progress of the host', [{ error: 'e' }], { output: '' }, { end_state: { progress: 0.35 } }, 0.35, 'host_progress'],
    ['progress as an integer', [], answered, { end_state: { progress: 1n } }, 1, 'host_progress'],
    ['progress before done', [], answered, { end_state: { progress: 0.25, done: true } }, 0.25, 'host_progress'],
    ['progress in an error turn', [], answered, { status: 'error', end_state: { progress: 0.5 } }, 0.1, 'turn_failed'],
    ['progress outside [0, 1]', [], answered, { ...done, end_state: { progress: 40 } }, 1, 'ok'],
    ['done', [{ error: 'e' }], { output: '' }, { end_state: { done: true } }, 1, 'host_done'],
    ['not done yet', [], answered, { ...done, end_state: { done: false } }, 1, 'ok'],
    ['not done at the end', [], answered, { ...done, final: true, end_state: { done: false } }, 0.4, 'host_not_done'],
    ['an end state of another shape', [], answered, { ...done, end_state: [1] }, 1, 'ok'],
  ])('%s', (...[, list, ofTrace, ofTurn, value, code]) => {
    const found = score(list, ofTrace, ofTurn);
    expect(found).toMatchObject({ status: 'scored', code });
    expect(found.value).toBeCloseTo(value, 12);
  });

  it('tells a model that gave no answer after its tools from an agent that ended by acting', () => {
    const of = trace([call({}), llm], { output: null });
    expect(runCheck('task_completion', of, { turn: turn(of, done), earlierAnswers: [] })).toMatchObject({
      value: 0.5,
      code: 'no_answer',
    });
  });

  it('holds the end of the turn against its last trace alone', () => {
    const first = trace(calls({}), { trace_id: 't0', status: 'OK' });
    const last = trace([], { trace_id: 't9', output: 'x' });
    const whole = { ...turn(last, { status: 'error', end_state: { progress: 0.1 } }), traces: [first, last] };
    const value = (of: typeof last) => runCheck('task_completion', of, { turn: whole, earlierAnswers: [] }).value;
    expect(value(first)).toBe(0.9);
    expect(value(last)).toBeCloseTo(0.02, 12);
  });

  it('explains itself in one sentence that names the spans', () => {
    expect(score([{ error: 'e' }], { output: '' }, done).reason).toBe(
      'The last tool call failed: "book" (span a1) failed, and the turn ended on a tool call, without a final answer.',
    );
  });
});
