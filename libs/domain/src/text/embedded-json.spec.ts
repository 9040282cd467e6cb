import { describe, expect, it } from '@jest/globals';
import { redactText } from './secret-patterns.js';

/** JSON of a value that is a string, `depth` times over. */
const nested = (value: unknown, depth: number): string =>
  depth === 0 ? JSON.stringify(value) : JSON.stringify({ arguments: nested(value, depth - 1) });

describe('secrets in JSON inside a string', () => {
  it.each([
    ['{"password":"x"}', '{"password":"[redacted]"}'],
    ['call {"api_key" : "x y", "n": 1} done', 'call {"api_key" : "[redacted]", "n": 1} done'],
    ['{"token": 12.5e3, "a": 1}', '{"token": "[redacted]", "a": 1}'],
    ['{"secret":null}', '{"secret":"[redacted]"}'],
    ['{"credential":{"a":"}","b":[1,"]"]},"c":2}', '{"credential":"[redacted]","c":2}'],
    [String.raw`{"password":"a\"b\\","c":1}`, '{"password":"[redacted]","c":1}'],
    ['{"password":"cut of', '{"password":"[redacted]"'],
    ["{'password': 'x', 'to_ken': None}", "{'password': '[redacted]', 'to_ken': '[redacted]'}"],
  ])('%j', (text, redacted) => {
    expect(redactText(text)).toBe(redacted);
    expect(redactText(redacted)).toBe(redacted);
  });

  it.each(['{"apikeys":"x","token_count":3}', '{"description":"x","keyboard":"y"}', 'the "token": see below', '"a password"'])(
    'leaves %j alone',
    (text) => {
      expect(redactText(text)).toBe(text);
    },
  );

  it.each([0, 1, 2, 3])('is found %d strings deep, and the JSON stays readable', (depth) => {
    const text = nested({ a: 'b"\\', password: 'hun"ter\\2\\', list: [{ x_token: { deep: 'q"\\' } }], z: 1 }, depth);
    let value: unknown = redactText(text);
    for (let level = 0; level <= depth; level += 1) {
      value = JSON.parse(value as string);
      if (level < depth) value = (value as { arguments: string }).arguments;
    }
    expect(value).toEqual({ a: 'b"\\', password: '[redacted]', list: [{ x_token: '[redacted]' }], z: 1 });
  });
});
