import { describe, expect, it } from '@jest/globals';
import { patternCost, steps, STEPS_MAX, UnsafePatternError } from './safe-pattern.js';

describe('the cost of a pattern', () => {
  it.each([
    ['^\\d{4}-\\d{2}-\\d{2}$', 1, 0],
    ['^[A-Za-z0-9_-]{1,64}$', 64, 0],
    ['^a$', 1, 0],
    ['a', 1, 1],
    ['^https?://.+$', 2, 1],
    ['^(?:red|green|blue)$', 3, 1],
    ['^[^@]+@[^@]+\\.[a-z]{2,}$', 1, 3],
    ['^(ab)*$', 1, 1],
    ['^[\\]*+]?x', 2, 0],
  ])('%s', (pattern, factor, degree) => {
    expect(patternCost(pattern)).toEqual({ factor, degree });
  });

  it.each([
    ['^(a+)+$'],
    ['^(a|a)*$'],
    ['^(a|aa){1,30}$'],
    ['(.*)*x'],
    ['^(a?){30}a{30}$'],
    [`^${'a?'.repeat(30)}${'a'.repeat(30)}$`],
    ['^.*.*.*.*=$'],
    ['^(.+)\\1$'],
    ['^(?<x>.+)\\k<x>$'],
    ['('],
    [')'],
    ['('.repeat(50) + ')'.repeat(50)],
    ['x'.repeat(600)],
  ])('%s is refused', (pattern) => {
    expect(() => patternCost(pattern)).toThrow(UnsafePatternError);
  });

  it('bounds what the engine really does: the dearest allowed pattern ends soon', () => {
    const pattern = '^a*a*a*b$';
    let length = 64;
    while (steps(patternCost(pattern), length + 1) <= STEPS_MAX) length += 1;
    const started = performance.now();
    expect(new RegExp(pattern).test('a'.repeat(length))).toBe(false);
    expect(performance.now() - started).toBeLessThan(500);
  });
});
