import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fromPythonLiteral } from './framework-python-literal.js';

/** As Python's repr prints it. */
function repr(value: unknown): string {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return `[${value.map(repr).join(', ')}]`;
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, item]) => `${text(key)}: ${repr(item)}`)
      .join(', ')}}`;
  return typeof value === 'number' ? String(value) : '';
}

function text(value: string): string {
  const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
  const escaped = value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t');
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}

describe('a dict as Python prints it', () => {
  it('is read as the JSON it stands for', () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        fc.string({ unit: 'binary' }),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('any'), { maxLength: 4 }),
        fc.dictionary(
          fc.string().filter((key) => key !== '__proto__'),
          tie('any'),
          { maxKeys: 4 },
        ),
      ),
    })).any;
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'b', "it's"), value), (dict) =>
        expect(fromPythonLiteral(repr(dict))).toEqual(dict),
      ),
    );
  });

  it.each([
    ["{'city': 'Tokyo', 'now': True}", { city: 'Tokyo', now: true }],
    [String.raw`{'a': '\x41\u00e9\U0001f600'}`, { a: 'Aé😀' }],
    ['[1, -2.5, 1e3, None]', [1, -2.5, 1000, null]],
    ['{}', {}],
  ])('%s', (source, expected) => {
    expect(fromPythonLiteral(source)).toEqual(expected);
  });

  it.each([["('a',)"], ["{'a': Decimal('1')}"], ["{'a': 1"], ["{1: 'a'}"], ['What is this?'], [''], [undefined]])(
    '%s is none',
    (source) => {
      expect(fromPythonLiteral(source)).toBeUndefined();
    },
  );
});
