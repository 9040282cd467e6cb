import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { storable } from './storable.js';

describe('storable', () => {
  it('gives the same object back when nothing has to change', () => {
    const value = { a: ['😀', 1, null, { b: 12345678901234567890n }] };
    const { value: same, notes } = storable(value);
    expect(same).toBe(value);
    expect(notes).toEqual([]);
  });

  it('replaces NUL and lone surrogates in strings and keys, and says so once per kind', () => {
    const { value, notes } = storable({ 'a\0': ['x\0\0', '\ud800y'], b: 'z\udc00\0', ok: '\\u0000' });
    expect(value).toEqual({ 'a\ufffd': ['x\ufffd\ufffd', '\ufffdy'], b: 'z\ufffd\ufffd', ok: '\\u0000' });
    expect(notes).toEqual(['NUL characters were replaced by U+FFFD', 'lone surrogates were replaced by U+FFFD']);
  });

  it('turns numbers that are not finite into null', () => {
    expect(storable([NaN, Infinity, 1])).toEqual({ value: [null, null, 1], notes: ['numbers that are not finite became null'] });
  });

  it('says when two keys became one', () => {
    const { value, notes } = storable({ 'a\0': 1, 'a\ufffd': 2 });
    expect(value).toEqual({ 'a\ufffd': 2 });
    expect(notes).toContain('keys that differed only in replaced characters were merged, the last one kept');
  });

  it('keeps a __proto__ key as an own property and pollutes nothing', () => {
    const { value } = storable(JSON.parse('{"__proto__": {"polluted": "\\u0000"}}'));
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":"\ufffd"}}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('leaves nothing unstorable in any JSON value, and nothing to do the second time', () => {
    const anything = fc.object({
      key: fc.string({ unit: fc.constantFrom('a', '\0', '\ud800', '😀') }),
      values: [fc.string({ unit: fc.constantFrom('a', '\0', '\udfff', '😀') }), fc.double()],
    });
    fc.assert(
      fc.property(anything, (value) => {
        const once = storable(value).value;
        expect(JSON.stringify(once)).not.toMatch(/\\u0000|\\ud[89a-f]/);
        expect(storable(once).value).toBe(once);
      }),
    );
  });
});

describe('case 14, NUL in jsonb', () => {
  const file = new URL('../../../../../shared/data/cases/14-nul-byte-jsonb.json', import.meta.url);
  if (!existsSync(file) && process.env['CI'] !== 'true') {
    it.skip(`is not there: ${file.pathname}`, () => undefined);
    return;
  }
  const { inputs } = JSON.parse(readFileSync(file, 'utf8')) as { inputs: { name: string; body?: unknown; bodyText?: string }[] };
  it.each(inputs)('$name', ({ name, body, bodyText }) => {
    const sent: unknown = bodyText === undefined ? body : JSON.parse(bodyText);
    const { value, notes } = storable(sent);
    const stored = JSON.stringify(value);
    if (name === 'literal-backslash-u0000') {
      expect(value).toBe(sent);
    } else {
      expect(stored).toContain('\ufffd');
      expect(stored).not.toContain('\\u0000');
      expect(notes).toHaveLength(1);
    }
  });
});
