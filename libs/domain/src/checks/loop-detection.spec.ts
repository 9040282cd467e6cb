import { describe, expect, it } from '@jest/globals';
import { calls, trace, turn, type CallFields } from './fixture.js';
import { runCheck } from './run-check.js';

function score(list: readonly CallFields[], answer?: unknown, earlierAnswers: readonly string[] = []) {
  const of = trace(calls(...list), { output: answer });
  return runCheck('loop_detection', of, { turn: turn(of), earlierAnswers });
}

const answer = 'I have sent the invoice to your address.';

describe('loop_detection', () => {
  it.each<[string, CallFields[], string | undefined, string[]]>([
    ['nothing at all', [], undefined, []],
    ['one call and no earlier answer', [{ input: 1 }], answer, []],
    ['only earlier answers without words', [], answer, ['', '...']],
    ['no answer to compare', [], undefined, [answer]],
  ])('is not applicable with %s', (_, list, text, earlier) => {
    expect(score(list, text, earlier)).toMatchObject({ status: 'not_applicable', code: 'nothing_to_compare' });
  });

  it.each<[string, CallFields[], unknown, string[], number, string]>([
    ['no repetition', [{ input: 1 }, { input: 2 }], answer, ['Good morning to you'], 1, 'ok'],
    ['one call made four times among five', [1, 1, 1, 1, 2].map((input) => ({ input })), answer, [], 0.4, 'repeated_call'],
    ['the worst of two repeated calls', [1, 1, 2, 2, 2].map((input) => ({ input })), undefined, [], 0.6, 'repeated_call'],
    ['the same answer again', [], answer, ['Something else entirely here', answer.toUpperCase()], 0, 'repeated_answer'],
    ['an answer within a JSON wrapper', [], { role: 'assistant', content: answer }, [answer], 0, 'repeated_answer'],
    ['half of an answer', [], 'one two three four five', ['one two three four six'], 0.5, 'similar_answer'],
    ['an answer of the fourth turn back', [], answer, ['a b c', 'd e f', 'g h i', answer], 1, 'ok'],
    ['short answers', [], 'Yes!', ['yes'], 0, 'repeated_answer'],
  ])('%s', (...[, list, text, earlier, value, code]) => {
    const found = score(list, text, earlier);
    expect(found).toMatchObject({ status: 'scored', code });
    expect(found.value).toBeCloseTo(value, 12);
  });
});
