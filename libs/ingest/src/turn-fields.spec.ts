import { describe, expect, it } from '@jest/globals';
import { changeFields, changeStrings } from './turn-fields.js';

describe('changeFields', () => {
  it('reaches the fields of turn, traces and spans and nothing else', () => {
    const turn = {
      end_state: 1,
      name: 'n',
      traces: [{ input: 1, name: 'n', spans: [{ output: 1, metadata: 1, error: 1, status: 'OK' }] }],
      tools: [{ input: 1 }],
    };
    expect(changeFields(turn, () => 'x')).toEqual({
      end_state: 'x',
      name: 'n',
      traces: [{ input: 'x', name: 'n', spans: [{ output: 'x', metadata: 'x', error: 'x', status: 'OK' }] }],
      tools: [{ input: 1 }],
    });
  });
  it('shares what does not change', () => {
    const turn = { input: 1, traces: [{ spans: [{ input: 2 }] }, null, 'odd'] };
    expect(changeFields(turn, (value) => value)).toBe(turn);
    const changed = changeFields(turn, (value) => (value === 1 ? 0 : value)) as typeof turn;
    expect(changed.traces).toBe(turn.traces);
  });
});

describe('changeStrings', () => {
  it('changes every string, however deep, and shares the rest', () => {
    const value = { a: ['x', 1, { b: 'y' }], c: { d: 2 } };
    const changed = changeStrings(value, (text) => text.toUpperCase()) as typeof value;
    expect(changed).toEqual({ a: ['X', 1, { b: 'Y' }], c: { d: 2 } });
    expect(changed.c).toBe(value.c);
    expect(changeStrings(value, (text) => text)).toBe(value);
  });
});
