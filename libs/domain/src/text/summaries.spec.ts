import { describe, expect, it } from '@jest/globals';
import { codePointLength } from './code-points.js';
import { snippet, taskSummary } from './summaries.js';

describe('taskSummary', () => {
  it('is one line of 600 code points at most', () => {
    expect(taskSummary(' pay\n the  invoice ')).toBe('pay the invoice');
    expect(codePointLength(taskSummary('😀'.repeat(700)))).toBe(600);
    expect(taskSummary(null)).toBe('');
  });
  it('breaks markers', () => {
    expect(taskSummary('fleetmend\nloop says')).toBe('fleetmend·loop says');
  });
});

describe('snippet', () => {
  it('counts its ellipsis', () => {
    expect(snippet('a b\n c', 5)).toBe('a b c');
    expect(snippet('abcdef', 5)).toBe('abcd…');
    expect(codePointLength(snippet('😀'.repeat(300)))).toBe(240);
  });
});
