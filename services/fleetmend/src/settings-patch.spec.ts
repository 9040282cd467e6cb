import { describe, expect, it } from '@jest/globals';
import { CommandError } from './exit-codes.js';
import { settingsPatchOf } from './settings-patch.js';

const patch = (...pairs: string[]): unknown => JSON.parse(JSON.stringify(settingsPatchOf(pairs)));

describe('settings set', () => {
  it('reads values as JSON, and as text when they are none', () => {
    expect(patch('a=1', 'b=true', 'c=text', 'd=null', 'e=["x"]', 'f=')).toEqual({
      a: 1,
      b: true,
      c: 'text',
      d: null,
      e: ['x'],
      f: '',
    });
  });

  it('reads a dotted name as one entry of a map', () => {
    expect(patch('thresholds.coherence=0.4', 'thresholds.task_completion=0.6')).toEqual({
      thresholds: { coherence: 0.4, task_completion: 0.6 },
    });
    expect(patch('gate_overrides.coherence@lexical.gate_target=0.3')).toEqual({
      gate_overrides: { 'coherence@lexical': { gate_target: 0.3 } },
    });
  });

  it('keeps what follows the first =', () => {
    expect(patch('a=b=c')).toEqual({ a: 'b=c' });
  });

  it('has no prototype to fall into', () => {
    expect(Object.keys(settingsPatchOf(['__proto__.x=1']))).toEqual(['__proto__']);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it('refuses what is no pair', () => {
    expect(() => settingsPatchOf(['a'])).toThrow(CommandError);
    expect(() => settingsPatchOf(['=1'])).toThrow(CommandError);
  });
});
