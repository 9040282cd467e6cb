import { describe, expect, it } from '@jest/globals';
import { JsonSyntaxError } from './json-error.js';
import { scanJson } from './json-scan.js';

describe('scanJson', () => {
  it.each([
    ['{"a":9234567890123456}', true],
    ['[-9234567890123456]', true],
    ['9234567890123456', true],
    ['{"a":123456789012345}', false],
    ['{"a":"1769000000000000000"}', false],
    ['{"a":"\\"1769000000000000000"}', false],
    ['{"a\\\\":1769000000000000000}', true],
    ['[12345678,12345678]', false],
  ])('%s holds a long run of digits outside strings: %s', (text, long) => {
    expect(scanJson(text)).toBe(long);
  });
  it('refuses nesting deeper than 200, and does not count brackets in strings', () => {
    expect(scanJson('['.repeat(200) + ']'.repeat(200))).toBe(false);
    expect(scanJson(JSON.stringify('['.repeat(500)))).toBe(false);
    expect(scanJson('[],'.repeat(500))).toBe(false);
    expect(() => scanJson('{"a":'.repeat(201))).toThrow(JsonSyntaxError);
  });
});

describe('what a number holds exactly', () => {
  it.each([
    ['microseconds since the epoch', '{"at":1796055179805123}', false],
    ['the greatest exact integer, which costs a careful look only', '9007199254740991', true],
    ['one more', '9007199254740993', true],
    ['seventeen digits', '[76561198016705746]', true],
    ['a double of seventeen digits', '[0.30000000000000004]', false],
    ['such digits inside a string', '"76561198016705746"', false],
  ])('%s', (_, text, careful) => {
    expect(scanJson(text)).toBe(careful);
  });
});
