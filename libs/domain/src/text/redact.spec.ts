import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { redactSecrets, redactSpan } from './redact.js';

/** A made-up secret, written in two halves so that no scanner takes this file for a leak. */
const halves = (a: string, b: string): string => a + b;

const looksSecret = halves('sk-', 'abcdef0123456789abcdef');

describe('redactSecrets', () => {
  it('gives the same object back when there is no secret', () => {
    const turn = { session_id: 's', traces: [{ spans: [{ input: { text: 'hello' }, token_usage: { prompt_tokens: 3 } }] }] };
    expect(redactSecrets(turn)).toBe(turn);
  });

  it('copies only the way to a secret', () => {
    const clean = { text: 'x' };
    const value = { a: [clean, { password: { any: 'thing' } }], b: clean };
    const redacted = redactSecrets(value) as typeof value;
    expect(redacted).toEqual({ a: [clean, { password: '[redacted]' }], b: clean });
    expect(redacted.a[0]).toBe(clean);
    expect(value.a[1]).toEqual({ password: { any: 'thing' } });
  });

  it('redacts formats in strings, and JSON in strings', () => {
    expect(redactSecrets([`key ${looksSecret}`, '{"password":"x"}'])).toEqual(['key [redacted]', '{"password":"[redacted]"}']);
  });

  it('redacts pairs that name the key in a member', () => {
    expect(
      redactSecrets([
        { name: 'Authorization', value: 'Basic abc' },
        { key: 'page_token', value: 7 },
        { name: 'page', value: '7' },
      ]),
    ).toEqual([
      { name: 'Authorization', value: '[redacted]' },
      { key: 'page_token', value: '[redacted]' },
      { name: 'page', value: '7' },
    ]);
  });

  it.each([
    'session_id turn_index trace_id span_id parent_span_id event_id tool_call_id id call_id started_at ended_at traceId toolCallId',
  ])('never touches identity: %s', (keys) => {
    for (const key of keys.split(' ')) {
      for (const identity of [looksSecret, 'Bearer abcdef0123456789', 4111111111111111, 76561198016705746n, [looksSecret]]) {
        const value = { [key]: identity, deeper: [{ [key]: identity }] };
        expect(redactSecrets(value)).toBe(value);
      }
    }
  });

  it('still searches an object below an identity key', () => {
    expect(redactSecrets({ id: { password: 'x', id: looksSecret } })).toEqual({
      id: { password: '[redacted]', id: looksSecret },
    });
  });

  it('keeps the order of keys and a __proto__ key as data', () => {
    const redacted = redactSecrets(JSON.parse('{"z":1,"__proto__":{"token":"x"},"a":2}'));
    expect(JSON.stringify(redacted)).toBe('{"z":1,"__proto__":{"token":"[redacted]"},"a":2}');
    expect(Object.getPrototypeOf(redacted)).toBe(Object.prototype);
  });

  it('is idempotent: the second pass returns the same object', () => {
    const anything = fc.object({
      key: fc.constantFrom('a', 'password', 'session_id', 'name', 'value', 'apiKey'),
      values: [fc.string(), fc.integer(), fc.constantFrom(looksSecret, '{"token":"x"}', '{"token":{"a":[1', 'authorization')],
    });
    fc.assert(
      fc.property(anything, (value) => {
        const once = redactSecrets(value);
        expect(redactSecrets(once)).toBe(once);
      }),
      { numRuns: 500 },
    );
  });
});

describe('redactSpan', () => {
  it.each<[string, unknown, unknown]>([
    [
      'cookies',
      { 'http.request.header.cookie': ['a=b'], setCookie: 'a=b' },
      { 'http.request.header.cookie': '[redacted]', setCookie: '[redacted]' },
    ],
    [
      'keys of a cloud',
      { AWS_SECRET_ACCESS_KEY: 'x', passwd: 'x', pwd: 7 },
      { AWS_SECRET_ACCESS_KEY: '[redacted]', passwd: '[redacted]', pwd: '[redacted]' },
    ],
    [
      'JSON in a text',
      { arguments: '{"passwd": "x", "Cookie":["y"]}' },
      { arguments: '{"passwd": "[redacted]", "Cookie":"[redacted]"}' },
    ],
    [
      'a query',
      { 'url.full': 'https://a.example/x?api_key=abc&q=1&token=d%20e#top' },
      { 'url.full': 'https://a.example/x?api_key=[redacted]&q=1&token=[redacted]#top' },
    ],
    [
      'a command line',
      "db --user me --password hunter2 --pwd='a b' --verbose",
      "db --user me --password [redacted] --pwd='[redacted]' --verbose",
    ],
    [
      'arguments one by one',
      ['db', '--password', 'hunter2', '--token', '--verbose'],
      ['db', '--password', '[redacted]', '--token', '--verbose'],
    ],
    ['a user and a password in base64', 'Authorization: Basic dXNlcjpodW50ZXIy, x', 'Authorization: Basic [redacted], x'],
    [
      'pairs of attributes',
      { 'h.0.name': 'Authorization', 'h.0.value': 'x', 'h.1.name': 'Accept', 'h.1.value': 'y' },
      { 'h.0.name': 'Authorization', 'h.0.value': '[redacted]', 'h.1.name': 'Accept', 'h.1.value': 'y' },
    ],
    ['pairs', [{ name: 'Cookie', value: 'x' }], [{ name: 'Cookie', value: '[redacted]' }]],
  ])('redacts %s, once for all', (_what, value, wanted) => {
    const once = redactSpan(value);
    expect(once).toEqual(wanted);
    expect(redactSpan(once)).toEqual(once);
  });

  it.each<[unknown]>([
    ['a basic understanding of Basic JavaScript, use --password --force'],
    ['https://a.example/?q=token&page=2'],
    ['a ruler ------token and ----- token'],
    [{ properties: { pwd: { type: 'string' } } }],
    [{ trace_id: 'Basic dXNlcjpodW50ZXIy', session: { id: '?token=abc', explicit: true } }],
    [{ cookie: null, pwd: true }],
  ])('leaves %j alone', (value) => expect(redactSpan(value)).toBe(value));

  it('finds what is redacted in turns too, whatever stands before it', () => {
    expect(redactSpan({ a: `Basic ${looksSecret}`, b: `?q=${looksSecret}`, password: { c: 1 } })).toEqual({
      ...{ a: 'Basic [redacted]', b: '?q=[redacted]', password: '[redacted]' },
    });
  });

  it('leaves what only spans hide in a turn, whose keys are fixed', () => {
    const turn = { cookie: 'a', text: '--password hunter2 ?token=x' };
    expect(redactSecrets(turn)).toBe(turn);
  });

  it.each(['Basic ', 'Basic abcd', '--', '--token ', '--a', '?', '?token=', '&a', '&a=', ';', '"pwd":', '"cookie":{'])(
    'takes megabytes of %j',
    (piece) => expect(typeof redactSpan(piece.repeat(4_000_000 / piece.length))).toBe('string'),
  );
});
