import { describe, expect, it } from '@jest/globals';
import { calls, trace, turn, type CallFields } from './fixture.js';
import { runCheck } from './run-check.js';

function score(list: readonly CallFields[]) {
  const of = trace(calls(...list));
  return runCheck('step_efficiency', of, { turn: turn(of), earlierAnswers: [] });
}

describe('step_efficiency', () => {
  it.each<[string, CallFields[], string]>([
    ['without a tool call', [], 'no_tool_calls'],
    ['when no arguments were recorded', [{}, {}], 'arguments_not_recorded'],
  ])('is not applicable %s', (_, list, code) => {
    expect(score(list)).toMatchObject({ status: 'not_applicable', code });
  });

  it.each<[string, CallFields[], number, string, string[]]>([
    ['different calls waste nothing', [{ input: 1 }, { input: 2 }], 1, 'ok', []],
    ['the same arguments to another tool waste nothing', [{ input: 1 }, { tool: 'pay', input: 1 }], 1, 'ok', []],
    ['a duplicate is wasted', [{ input: { a: 1, b: [2] } }, { input: '{"b":[2],"a":1}' }], 0.5, 'duplicate_call', ['a2']],
    [
      'an unchanged retry is wasted',
      [{ input: 1, error: 'e' }, { input: 1 }, { input: 2 }, { input: 3 }],
      0.75,
      'unchanged_retry',
      ['a2'],
    ],
    ['a changed retry is not', [{ input: 1, error: 'e' }, { input: 2 }], 1, 'ok', []],
    ['equal integers are equal in every notation', [{ input: { n: 5n } }, { input: { n: 5 } }], 0.5, 'duplicate_call', ['a2']],
    ['calls without arguments are not counted', [{ input: 1 }, { input: 1 }, {}, {}], 0.5, 'duplicate_call', ['a2']],
  ])('%s', (...[, list, value, code, spans]) => {
    expect(score(list)).toMatchObject({ status: 'scored', value, code, spans });
  });
});
