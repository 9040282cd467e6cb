import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { trace, turn } from './fixture.js';
import { runCheck } from './run-check.js';
import { trigramCosine } from './similarity.js';

function score(input: unknown, output: unknown) {
  const of = trace([], { input, output });
  return runCheck('coherence', of, { turn: turn(of), earlierAnswers: [] });
}

describe('coherence', () => {
  it.each<[unknown, unknown, string]>([
    [undefined, 'answer', 'no_request_text'],
    ['  ', 'answer', 'no_request_text'],
    ['?!', 'answer', 'no_request_text'],
    [{ messages: [] }, 'answer', 'no_request_text'],
    ['request', null, 'no_answer_text'],
    ['request', { role: 'assistant', content: null, tool_calls: [{ id: 'request' }] }, 'no_answer_text'],
  ])('is not applicable for %j and %j', (input, output, code) => {
    expect(score(input, output)).toMatchObject({ status: 'not_applicable', code, source: 'lexical' });
  });

  it('is 1 for an echo, 0 without a shared trigram, and between for words of one stem', () => {
    expect(score('Where is my order?', 'where is MY order')).toMatchObject({ value: expect.closeTo(1, 12), code: 'ok' });
    expect(score('abc', 'xyz')).toMatchObject({ value: 0, code: 'few_shared_words' });
    const { value } = score('refund the booking', 'the booking was refunded');
    expect(value).toBeGreaterThan(0.6);
    expect(value).toBeLessThan(1);
  });

  it('compares texts, never their wrappers', () => {
    const plain = score('Where is my order?', 'It was sent today.').value;
    const request = JSON.stringify({
      messages: [
        { role: 'system', content: 'order' },
        { role: 'user', content: [{ type: 'text', text: 'Where is my order?' }] },
      ],
    });
    const answer = { choices: [{ message: { role: 'assistant', content: 'It was sent today.' } }] };
    expect(score(request, answer).value).toBe(plain);
  });

  it("takes the turn's texts where the trace has none", () => {
    const first = trace([], { trace_id: 't0', input: 'Where is it?' });
    const last = trace([], { trace_id: 't1', output: 'Here it is.' });
    const whole = { ...turn(last), traces: [first, last] };
    expect(runCheck('coherence', last, { turn: whole, earlierAnswers: [] }).status).toBe('scored');
  });

  it('is symmetric and within [0, 1] for any texts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 700 }), fc.string({ unit: 'binary', maxLength: 700 }), (a, b) => {
        const value = trigramCosine(a, b);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1 + 1e-9);
        expect(trigramCosine(b, a)).toBeCloseTo(value, 9);
      }),
    );
  });
});
