import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toEpochMicros, toIso } from './time.js';

const T = 1769000000123456;

describe('toEpochMicros', () => {
  it.each([
    ['2026-01-21T12:53:20.123456Z', T],
    ['2026-01-21t12:53:20.123456789z', T],
    ['2026-01-21 18:23:20.123456+05:30', T],
    ['2026-01-21T04:53:20.123456-08:00', T],
    [' 2026-01-21T12:53:20Z ', 1769000000000000],
    ['2026-01-21T12:53:20.1Z', 1769000000100000],
    ['1969-12-31T23:59:59.5Z', -500000],
    ['0001-01-01T00:00:00Z', undefined],
    ['2016-12-31T23:59:60Z', 1483228800000000],
    ['2024-02-29T00:00:00Z', 1709164800000000],
    ['2023-02-29T00:00:00Z', undefined],
    ['2026-13-01T00:00:00Z', undefined],
    ['2026-01-21T24:00:00Z', undefined],
    ['2026-01-21T12:53:20', undefined],
    ['2026-01-21', undefined],
    [1769000000, 1769000000000000],
    [1769000000123, 1769000000123000],
    [T, T],
    [1769000000123456000, T],
    [1769000000.123456, T],
    [1769000000123.456, T],
    [1769000000123456789n, T],
    ['1769000000123456789', T],
    ['1769000000.123456', T],
    ['+1769000000', 1769000000000000],
    [-1n, -1000000],
    [-1769000000123456789n, -1769000000123457],
    [0, 0],
    [-0, 0],
    ['0', 0],
    [NaN, undefined],
    [Infinity, undefined],
    [1e300, undefined],
    [10n ** 30n, undefined],
    ['', undefined],
    ['soon', undefined],
    ['1e9', undefined],
    [null, undefined],
    [undefined, undefined],
    [{}, undefined],
    [true, undefined],
  ])('reads %p as %p', (value, micros) => {
    expect(toEpochMicros(value)).toBe(micros);
  });

  it('gives safe integers or undefined for anything', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything({ withBigInt: true }), fc.double(), fc.bigInt()), (value) => {
        const micros = toEpochMicros(value);
        expect(micros === undefined || Number.isSafeInteger(micros)).toBe(true);
      }),
    );
  });
});

describe('toIso', () => {
  it('has three fraction digits, or six when they are needed', () => {
    expect(toIso(1769000000000000)).toBe('2026-01-21T12:53:20.000Z');
    expect(toIso(T)).toBe('2026-01-21T12:53:20.123456Z');
    expect(toIso(-1)).toBe('1969-12-31T23:59:59.999999Z');
    expect(() => toIso(0.5)).toThrow(RangeError);
  });
  it('comes back as the same time', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (micros) => {
        expect(toEpochMicros(toIso(micros))).toBe(micros);
      }),
    );
  });
});
