import { describe, expect, it } from '@jest/globals';
import { labelsOf } from './read-labels.js';

const labels = (text: string) => [...labelsOf(text)];

describe('labelsOf', () => {
  const expected = [
    ['a', true],
    ['b', false],
    ['c', false],
  ];
  it.each([
    ['a JSON map', '{"a": true, "b": "no", "c": null}'],
    ['a JSON list', '[{"session_id": "a", "failed": "yes"}, {"session_id": "b", "failed": 0}, {"session_id": "c"}]'],
    ['CSV', 'session_id,failed\na,yes\nb,False\nc,\n'],
    ['CSV with other columns, line ends and a byte order mark', '\ufeffnote,Failed,Session_ID\r\n"x, y",1,a\r\n,0,b\r\n\r\n,n,c'],
  ])('reads %s; what has no word on failed did not fail', (_, text) => {
    expect(labels(text)).toEqual(expected);
  });

  it('reads quoted cells', () => {
    expect(labels('session_id,failed\n"a,""b""\nc",true\n"d",no')).toEqual([
      ['a,"b"\nc', true],
      ['d', false],
    ]);
  });

  it('takes a session named like a member of Object for a session', () => {
    expect(labels('{"__proto__": true, "constructor": false}')).toEqual([
      ['__proto__', true],
      ['constructor', false],
    ]);
  });

  it.each([
    ['', 'first line'],
    ['{"a": tru', 'no JSON'],
    ['{"a": "perhaps"}', '"a": failed is "perhaps"'],
    ['{"a": {}}', '"a": failed is {}'],
    ['[1]', 'item 0: session_id is missing'],
    ['session_id,failed\na,maybe', 'row 2: failed is "maybe"'],
    ['session_id,failed\na,yes\na,no', 'row 3: "a" is labelled twice'],
    ['session,bad\na,1', 'session_id and failed'],
  ])('refuses %j', (text, reason) => {
    expect(() => labelsOf(text)).toThrow(reason);
  });
});
