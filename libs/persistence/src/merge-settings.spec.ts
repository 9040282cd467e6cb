import { describe, expect, it } from '@jest/globals';
import { InfrastructureError } from '#messaging';
import { classifyDatabaseError, isWorthRerunning } from './errors.js';
import { mergeSettings } from './merge-settings.js';

describe('settings of several sources', () => {
  it('overrule each other, and join their maps entry by entry', () => {
    const merged = mergeSettings(
      { gate_window: 3, thresholds: { coherence: 0.4 } },
      { gate_target: 0.6 },
      { gate_window: 4, thresholds: { confidence: 0.2 } },
    );
    expect(merged).toEqual({ gate_window: 4, gate_target: 0.6, thresholds: { coherence: 0.4, confidence: 0.2 } });
  });
});

describe('a database error', () => {
  it.each(['40001', '40P01', '23505'])('%s runs the transaction again', (code) => {
    expect(isWorthRerunning({ driverError: { code } })).toBe(true);
  });
  it.each([
    { code: '57P01' },
    { code: '08006' },
    { code: 'ECONNREFUSED' },
    { code: '53300' },
    { message: 'Connection terminated unexpectedly' },
  ])('%j means that the database is away', (error) => {
    expect(classifyDatabaseError({ driverError: error })).toBeInstanceOf(InfrastructureError);
  });
  it.each([{ code: '22P02' }, { code: '42501' }, { message: 'something else' }])('%j is what it is', (error) => {
    expect(classifyDatabaseError(error)).toBe(error);
    expect(isWorthRerunning(error)).toBe(false);
  });
});
