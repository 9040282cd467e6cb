import type { Span } from '#contracts';
import { describe, expect, it } from '@jest/globals';
import { withDoubt } from './doubtful-outcome.js';

const call = (output: unknown, more: Partial<Span> = {}): Span => ({
  ...{ span_id: 'a', name: 'pay', kind: 'TOOL', status: 'UNSET', output, metadata: { dialect: 'langfuse' } },
  ...more,
});
const isDoubtful = (span: Span): boolean => withDoubt(span).metadata?.['outcome_unknown'] === true;

describe('a call that a library took for a success', () => {
  it.each([
    'Error: not enough seats on flight HAT290',
    '"Error: not enough seats"',
    'error - declined',
    'An error occurred while running the tool. Please try again.',
    'Traceback (most recent call last):',
    { error: 'declined' },
    '{"error": {"code": 7}}',
    { isError: true, content: [] },
  ])('is doubtful with the answer %j', (output) => {
    expect(isDoubtful(call(output))).toBe(true);
    expect(isDoubtful(call(output, { status: 'OK' }))).toBe(true);
  });

  it.each([
    'Errors: none',
    'no error',
    'Erroneous',
    { error: null, seats: 3 },
    { error: '' },
    { error: false },
    '',
    null,
    7,
    ['Error'],
  ])('is not with the answer %j', (output) => {
    expect(isDoubtful(call(output))).toBe(false);
  });

  it('is not where its failure is recorded, or its success by the program itself, or where it is no call', () => {
    expect(isDoubtful(call('Error: no', { status: 'ERROR' }))).toBe(false);
    expect(isDoubtful(call('Error: no', { error: 'no' }))).toBe(false);
    expect(isDoubtful(call('Error: no', { status: 'OK', metadata: { dialect: 'plain' } }))).toBe(false);
    expect(isDoubtful(call('Error: no', { metadata: { dialect: 'plain' } }))).toBe(true);
    expect(isDoubtful(call('Error: no', { kind: 'LLM' }))).toBe(false);
  });
});
