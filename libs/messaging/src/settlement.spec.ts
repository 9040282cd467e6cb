import { describe, expect, it } from '@jest/globals';
import { InfrastructureError, TerminalError } from './errors.js';
import { retryDelay, settle } from './settlement.js';

const away = new InfrastructureError('database', new Error('gone'));

describe('a failed batch', () => {
  it.each([
    [
      'is held, without counting, while the database is away',
      away,
      256,
      0,
      { action: 'hold', dependency: 'database', delayMs: 100 },
    ],
    ['is held with a delay that grows', away, 1, 3, { action: 'hold', dependency: 'database', delayMs: 800 }],
    ['is held with a delay that is bounded', away, 1, 500, { action: 'hold', dependency: 'database', delayMs: 5000 }],
    ['is narrowed down when it holds several messages', new Error('x'), 2, 0, { action: 'split' }],
    ['is narrowed down even when a message says that it can never succeed', new TerminalError('x'), 2, 0, { action: 'split' }],
    [
      'is dead when its only message can never succeed',
      new TerminalError('because'),
      1,
      0,
      { action: 'dead', reason: 'because' },
    ],
    ['is counted when its only message failed', new Error('x'), 1, 0, { action: 'count' }],
    ['is counted whatever was thrown', 'text', 1, 0, { action: 'count' }],
  ])('%s', (_, error, size, holds, expected) => {
    expect(settle(error, size, holds)).toEqual(expected);
  });
  it.each([
    [1, 500],
    [2, 2_000],
    [4, 30_000],
    [5, null],
    [9, null],
  ])('after %d counted failures waits %s', (attempts, delay) => {
    expect(retryDelay(attempts, 5)).toBe(delay);
  });
});
