import { describe, expect, it } from '@jest/globals';
import { calls, tool, trace, turn, type CallFields } from './fixture.js';
import { runCheck } from './run-check.js';

function score(list: readonly CallFields[], tools?: readonly unknown[]) {
  const of = trace(calls(...list));
  return runCheck('argument_correctness', of, { turn: turn(of, { tools }), earlierAnswers: [] });
}

const book = tool('book', { seats: { type: 'integer', minimum: 1 } });

function withSchema(parameters: unknown, input: unknown) {
  return score([{ input }], [{ name: 'book', parameters }]);
}

describe('argument_correctness', () => {
  it.each<[string, CallFields[], string]>([
    ['without a tool call', [], 'no_tool_calls'],
    ['when no arguments were recorded', [{}], 'arguments_not_judged'],
    ['when there is neither a schema nor anything to parse', [{ input: null }, { input: '' }], 'arguments_not_judged'],
  ])('is not applicable %s', (_, list, code) => {
    expect(score(list)).toMatchObject({ status: 'not_applicable', value: null, code });
  });

  it.each<[string, unknown, number, string]>([
    ['an object', { seats: 2 }, 1, 'ok'],
    ['JSON text', '{"seats":2}', 1, 'ok'],
    ['JSON text with blanks and quotes behind it', '{"seats":2}"" \n', 1, 'ok'],
    ['JSON text encoded twice', JSON.stringify('{"seats":2}'), 1, 'ok'],
    ['a bigint', { seats: 12345678901234567890n }, 1, 'ok'],
    ['two objects in a row', '{"seats":2}{"seats":3}', 0, 'invalid_json'],
    ['an object cut off', '{"seats":', 0, 'invalid_json'],
    ['an object of another language', "{'seats': 2}", 0, 'invalid_json'],
    ['plain text', 'two seats', 0, 'schema_violation'],
    ['an array', '["a"]', 0, 'schema_violation'],
    ['a wrong type', { seats: '2' }, 0, 'schema_violation'],
    ['a missing property', {}, 0, 'schema_violation'],
    ['null', null, 0, 'schema_violation'],
    ['an empty text', '', 0, 'schema_violation'],
    ['a key __proto__', JSON.parse('{"__proto__":1,"seats":1}'), 1, 'ok'],
  ])('judges %s against the schema', (_, input, value, code) => {
    expect(score([{ input }], [book])).toMatchObject({ status: 'scored', value, code, spans: value === 1 ? [] : ['a1'] });
  });

  it('judges only whether arguments are JSON where there is no schema', () => {
    const list = [{ input: '{"a":1}' }, { input: '{"a"' }, { input: 'Paris' }, { input: { any: 1 } }];
    expect(score(list)).toMatchObject({ value: 0.75, code: 'invalid_json', spans: ['a2'] });
  });

  it('says where arguments break their schema', () => {
    expect(score([{ input: { seats: 0 } }], [book]).reason).toBe(
      '1 of 1 tool calls have wrong arguments: "book" (span a1) breaks its schema: /seats must be >= 1.',
    );
  });

  it.each<[string, unknown]>([
    ['an unknown type', { type: 'nonsense' }],
    ['a keyword of the wrong shape', { type: 'object', required: 'seats' }],
    ['a remote reference', { $ref: 'https://example.com/schema.json' }],
    ['a reference to nowhere', { $ref: '#/definitions/none' }],
    ['dynamic references', { $dynamicRef: '#x' }],
    ['a broken pattern', { properties: { a: { pattern: '(' } } }],
    ['an exponential pattern', { properties: { a: { pattern: '^(a+)+$' } } }],
    ['a schema too large', { enum: Array.from({ length: 20_000 }, (_, n) => n) }],
    ['a schema too deep', deep(200)],
  ])('takes %s for no schema, and says so', (_, parameters) => {
    const { value, reason } = withSchema(parameters, { anything: 1 });
    expect(value).toBe(1);
    expect(reason).toMatch(/schema of book not used: it/);
    expect(reason?.length).toBeLessThan(300);
  });

  it.each<[string, unknown, unknown, number]>([
    ['draft 7 tuples', { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] }, [1], 0],
    ['tuples without a declared draft', { items: [{ type: 'string' }] }, [1], 0],
    ['2020-12 tuples', { prefixItems: [{ type: 'string' }] }, [1], 0],
    [
      'draft 7 definitions',
      { definitions: { s: { type: 'string' } }, properties: { a: { $ref: '#/definitions/s' } } },
      { a: 1 },
      0,
    ],
    ['2020-12 definitions', { $defs: { s: { type: 'string' } }, properties: { a: { $ref: '#/$defs/s' } } }, { a: 'x' }, 1],
    ['formats', { properties: { day: { type: 'string', format: 'date' } } }, { day: 'tomorrow' }, 0],
    ['formats nobody knows', { properties: { day: { format: 'weekday' } } }, { day: 'x' }, 1],
    ['types in capitals', { type: 'OBJECT', properties: { a: { type: 'STRING' } } }, { a: 1 }, 0],
    ['a property called $id', { properties: { $id: { type: 'integer' }, default: { type: 'integer' } } }, { $id: 'x' }, 0],
    [
      'nothing of a property called __proto__',
      JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'),
      JSON.parse('{"__proto__":1}'),
      1,
    ],
    ['two patterns', { properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } }, { a: 'a', b: 'a' }, 0],
    ['bigints in the schema', { properties: { a: { maximum: 5n } } }, { a: 7 }, 0],
    ['a recursive schema', { properties: { next: { $ref: '#' }, n: { type: 'integer' } } }, { next: { next: { n: 'x' } } }, 0],
  ])('understands %s', (_, parameters, input, value) => {
    expect(withSchema(parameters, input).value).toBe(value);
  });

  it('keeps two schemas with the same $id apart', () => {
    expect(withSchema({ $id: 'urn:x', type: 'object' }, {}).value).toBe(1);
    expect(withSchema({ $id: 'urn:x', type: 'array' }, {}).value).toBe(0);
  });

  it.each<[string, unknown, unknown]>([
    ['a schema that doubles itself', doubling(30), 1],
    [
      'a recursion that doubles on nested data',
      { allOf: [{ properties: { a: { anyOf: [{ $ref: '#' }, { $ref: '#' }] } } }, { required: ['x'] }] },
      nested(40, true),
    ],
    ['a reference to itself', { $ref: '#' }, 1],
    ['a string too long for its pattern', { pattern: 'a+b+c' }, 'a'.repeat(5000)],
    ['arguments nested too deeply', { type: 'object' }, nested(90)],
    ['arguments with too many values', { uniqueItems: true }, Array.from({ length: 5000 }, (_, n) => ({ n }))],
  ])('gives no verdict, soon, on %s', (_, parameters, input) => {
    const started = performance.now();
    expect(withSchema(parameters, input)).toMatchObject({ status: 'not_applicable', code: 'arguments_not_judged' });
    expect(performance.now() - started).toBeLessThan(1000);
  });

  it('compiles a catalogue once, however many turns bring their own copy of it', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [`p${n}`, { type: 'string', pattern: `^once${n}` }]),
    );
    const time = (): number => {
      const started = performance.now();
      score([{ input: {} }], [structuredClone(tool('book', properties))]);
      return performance.now() - started;
    };
    const first = time();
    const later = Math.min(...Array.from({ length: 20 }, time));
    expect(later).toBeLessThan(first / 3);
  });
});

function deep(levels: number): unknown {
  return levels === 0 ? { type: 'string' } : { properties: { a: deep(levels - 1) } };
}

function nested(levels: number, broken = false): unknown {
  return levels === 0 ? (broken ? {} : 1) : { a: nested(levels - 1, broken) };
}

function doubling(levels: number): unknown {
  const entries = Array.from({ length: levels }, (_, n) => [
    `d${n}`,
    n === levels - 1 ? { type: 'string' } : { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
  ]);
  return { $defs: Object.fromEntries(entries) as unknown, $ref: '#/$defs/d0' };
}
