import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readJson } from './json-text.js';

describe('reading the JSON in an answer', () => {
  it.each<[string, string, unknown]>([
    ['bare', '{"a":1}', { a: 1 }],
    ['a fence inside a string', '{"a":"```py\\nprint({})\\n```"}', { a: '```py\nprint({})\n```' }],
    ['a fence around a string that holds one', '```json\n{"a":"x\\n```\\ny"}\n```', { a: 'x\n```\ny' }],
    ['prose around one object', 'Well: {"a":{"b":"}"}} - that is all.', { a: { b: '}' } }],
    ['braces in prose that are not JSON', 'For {task} I say {"a":1}.', { a: 1 }],
    ['thoughts with a draft in front', '<think>maybe {"a":2}</think>\n{"a":1}', { a: 1 }],
  ])('takes %s', (_, text, value) => {
    expect(readJson(text)).toEqual({ ok: true, value });
  });

  it.each<[string, string]>([
    ['two objects', '{"a":1}\n{"a":2}'],
    ['two fences', '```\n{"a":1}\n```\nor\n```\n{"a":2}\n```'],
    ['an object cut off, though it holds a complete one', '{"score":0.7,"evidence":{"score":0.1}'],
    ['an object of another language, though it holds a complete one', '{\'a\': {"score": 1}}'],
    ['nothing', ' \n'],
    ['a text without an object', 'There are 5 reasons for 9 of 10.'],
  ])('refuses %s', (_, text) => {
    expect(readJson(text)).toMatchObject({ ok: false });
  });

  it('finds any object in its own JSON, fenced, and in prose', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.boolean(), (value, indented) => {
        const text = JSON.stringify(value, undefined, indented ? 2 : undefined);
        const expected = { ok: true, value: JSON.parse(text) as unknown };
        expect(readJson(text)).toEqual(expected);
        expect(readJson('```json\n' + text + '\n```')).toEqual(expected);
        expect(readJson(`So: ${text} Done.`)).toEqual(expected);
      }),
    );
  });
});
