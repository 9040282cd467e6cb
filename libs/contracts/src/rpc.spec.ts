import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { rpcSubject } from './rpc-subject.js';
import { metricAnswer, verifyAnswer } from './rpc.js';

describe('the answer to rpc.verify', () => {
  it.each<[unknown, number | null]>([
    [true, 1],
    [false, 0],
    [0.25, 0.25],
    [1, 1],
    [null, null],
    ['0.5', 0.5],
    [' 1e-1 ', 0.1],
    ['.5', 0.5],
    ['True', 1],
    ['false', 0],
    ['null', null],
  ])('reads %j as %j, bare or explained', (given, value) => {
    expect(verifyAnswer.parse(given)).toEqual({ value, reason: null });
    expect(verifyAnswer.parse({ value: given, reason: 'refunded twice' })).toEqual({ value, reason: 'refunded twice' });
    expect(metricAnswer.parse({ value: given, reason: null, seed: 7 })).toEqual({ value, reason: null });
  });

  it('keeps an error as one, never as a value', () => {
    expect(verifyAnswer.parse({ error: 'no such order' })).toEqual({ error: 'no such order' });
    expect(verifyAnswer.parse({ error: 'half way', value: 1 })).toEqual({ error: 'half way' });
  });

  it.each([
    1.01,
    -0.01,
    85,
    Number.NaN,
    Infinity,
    '',
    ' ',
    'good',
    '0x1',
    '50%',
    '1e999',
    'constructor',
    [],
    [1],
    {},
    { score: 1 },
    { value: [1] },
    undefined,
  ])('takes %j for no answer at all', (given) => {
    expect(verifyAnswer.safeParse(given).success).toBe(false);
  });

  it('never yields a value outside [0, 1], whatever comes', () => {
    fc.assert(
      fc.property(fc.anything(), (given) => {
        const { data } = verifyAnswer.safeParse(given);
        if (data === undefined || 'error' in data || data.value === null) return;
        expect(data.value >= 0 && data.value <= 1).toBe(true);
      }),
    );
  });
});

describe('rpcSubject', () => {
  it('names what is asked, of which project', () => {
    expect(rpcSubject('shop', 'verify')).toBe('fm.shop.rpc.verify');
    expect(rpcSubject('shop', 'rules.read')).toBe('fm.shop.rpc.rules.read');
    expect(rpcSubject('shop', 'metric', 'politeness')).toBe('fm.shop.rpc.metric.politeness');
  });
});
