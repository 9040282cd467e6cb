import { z } from 'zod';

/** A number as JSON writes it: neither "8/10" nor "80%", "nan" or "0x1". */
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/**
 * A judge's score: a finite number in [0, 1], or such a number as text ("0.8"). Anything else is refused, never clamped: a
 * misread score is worse than none. Negative zero, which is inside the range, becomes 0.
 */
export const unitScore = z.preprocess(asNumber, z.number().min(0).max(1));

function asNumber(value: unknown): unknown {
  const number = typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : value;
  return number === 0 ? 0 : number;
}
