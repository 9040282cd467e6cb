import { describe, expect, it } from '@jest/globals';
import { answerScoreLine, ScoreLineError } from './offline.js';

const trace = {
  input: 'Where is my order?',
  output: 'Your order is on its way.',
  spans: [
    { kind: 'TOOL', name: 'find', input: '{"id":"x"}', output: 'ok', started_at: '2026-01-01T00:00:02Z' },
    { kind: 'TOOL', name: 'find', input: { id: 1 }, error: 'no', started_at: '2026-01-01T00:00:01Z', ended_at: 1_767_225_602 },
  ],
};
const find = { name: 'find', parameters: { type: 'object', properties: { id: { type: 'string' } } } };

function values(line: Record<string, unknown>): Record<string, number | null> {
  return Object.fromEntries(answerScoreLine(line).scores.map((score) => [score.metric, score.value]));
}

describe('a line of the offline command', () => {
  it('gives all six scores by default', () => {
    expect(values({ trace, tools: [find], earlier_answers: ['Hello'] })).toEqual({
      task_completion: 1,
      coherence: expect.any(Number),
      tool_correctness: 0.5,
      argument_correctness: 0.5,
      step_efficiency: 1,
      loop_detection: 1,
    });
  });

  it('takes OpenAI tools, text, named metrics and facts of the turn', () => {
    const line = JSON.stringify({
      trace,
      tools: [{ type: 'function', function: find }],
      metrics: ['task_completion', 'plan_quality'],
      status: 'error',
    });
    expect(answerScoreLine(line).scores.map(({ metric, value, code }) => [metric, value, code])).toEqual([
      ['task_completion', 0.2, 'turn_failed'],
      ['plan_quality', null, 'no_model'],
    ]);
    expect(values({ trace, end_state: { progress: 0.3 }, metrics: ['task_completion'] })).toEqual({ task_completion: 0.3 });
  });

  it('prefers the request it is given', () => {
    expect(values({ trace, request: trace.output, metrics: ['coherence'] }).coherence).toBeCloseTo(1, 12);
  });

  it('needs nothing but a trace', () => {
    const { scores } = answerScoreLine({ trace: {} });
    expect(scores).toHaveLength(6);
    expect(scores.every((score) => score.status === 'not_applicable' && score.trace_id === 'trace')).toBe(true);
  });

  it.each([['{'], [null], [{}], [{ trace: [] }], [{ trace: {}, metrics: 'all' }], [{ trace: {}, earlier_answers: [1] }]])(
    'refuses %j',
    (line) => {
      expect(() => answerScoreLine(line)).toThrow(ScoreLineError);
    },
  );
});
