import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fileUnder, filingContext, hostLabels, preciseRecommendation } from './filing.js';
import { isExpressed, normalizeScope, normalizeScopeOrNull, readableScope, SCOPE_MAX } from './scope.js';

const name = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({ unit: fc.constantFrom('a', 'Z', '-', '.', '_', '/', ' ', 'é', 'ß'), maxLength: 80 }),
);

describe('a scope in normal form', () => {
  it('is one file name, starts and ends with a letter or digit, and stays as it is', () => {
    fc.assert(
      fc.property(name, (text) => {
        const scope = normalizeScope(text);
        expect(scope).toMatch(/^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/);
        expect(scope.length).toBeLessThanOrEqual(SCOPE_MAX);
        expect(normalizeScope(scope)).toBe(scope);
      }),
    );
  });
  it('is stripped again after the cut', () => {
    expect(normalizeScope(`${'a'.repeat(47)}-b`)).toBe('a'.repeat(47));
  });
  it('takes no longer for a long run of dashes than its length', () => {
    expect(normalizeScope(`a${'-'.repeat(2_000_000)}b`)).toBe('a');
  });
  it.each([null, undefined, '', '  ', '///', '!!!', '支付'])('of %j is none, and global where one is needed', (text) => {
    expect(normalizeScopeOrNull(text)).toBeNull();
    expect(normalizeScope(text)).toBe('global');
  });
});

describe('a scope to read', () => {
  it('is accepted exactly in its normal form, so that whatever list shows can be read', () => {
    fc.assert(
      fc.property(name, (text) => {
        expect(readableScope(normalizeScope(text))).toEqual({ accepted: true, scope: normalizeScope(text) });
        expect(readableScope(text).accepted).toBe(normalizeScopeOrNull(text) === text);
      }),
    );
  });
  it('is global for none at all, but not for an empty name', () => {
    expect(readableScope(undefined)).toEqual({ accepted: true, scope: 'global' });
    expect(readableScope('').accepted).toBe(false);
  });
});

describe('the host', () => {
  it('is known by the labels of its end states, in normal form', () => {
    const states = [{ benchmark: 'App World', integration: 7, host: ' ' }, null, 'x', { host: 'TAU2', other: 'venmo' }];
    expect([...hostLabels(states)]).toEqual(['app-world', 'tau2']);
  });
  it('cannot make the default scopes unusable', () => {
    expect([...hostLabels([{ host: 'Global', benchmark: 'scoped' }])]).toEqual([]);
  });
  it('recommends the first name that is narrower than itself, in normal form', () => {
    const labels = new Set(['app-world']);
    expect(preciseRecommendation([null, ' ', '///', 'GLOBAL', 'scoped', 'App World', 'Payment Flows', 'venmo'], labels)).toBe(
      'payment-flows',
    );
    expect(preciseRecommendation(['global', 'app world'], labels)).toBeNull();
  });
});

describe('filing a rule', () => {
  const host = filingContext(['venmo'], [{ benchmark: 'appworld' }]);
  const alone = filingContext([], []);

  it.each([
    ['a name stands against the recommendation', { scope: 'Spotify' }, host, 'spotify'],
    ['a label of the host gives way to the recommendation', { scope: 'appworld' }, host, 'venmo'],
    [
      'a label without a recommendation becomes scoped',
      { scope: 'AppWorld' },
      filingContext([], [{ host: 'appworld' }]),
      'scoped',
    ],
    ['silence takes the recommendation', { scope: ' \u00a0' }, host, 'venmo'],
    ['silence without a recommendation is global, never scoped', {}, alone, 'global'],
    ['scoped can be chosen', { scope: 'scoped' }, host, 'scoped'],
    ['global applicability comes before everything', { scope: '../etc', applicability: 'global' }, host, 'global'],
    ['topical applicability decides nothing', { scope: null, applicability: 'topical' }, host, 'venmo'],
  ] as const)('%s', (_, choice, context, scope) => {
    expect(fileUnder(choice, context)).toEqual({ accepted: true, scope });
  });
  it.each(['../../etc/passwd', 'a/b', 'a\\b', 'a..b', '***'])('refuses %s, with what to do', (scope) => {
    expect(fileUnder({ scope }, host)).toMatchObject({ accepted: false, error: expect.stringContaining('invalid rule scope') });
  });
  it('gives a scope that can be read, whatever was proposed', () => {
    fc.assert(
      fc.property(name, (scope) => {
        const filed = fileUnder({ scope }, host);
        if (filed.accepted) expect(readableScope(filed.scope)).toEqual(filed);
        else expect(isExpressed(scope)).toBe(true);
      }),
    );
  });
});
