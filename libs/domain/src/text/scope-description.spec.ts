import { describe, expect, it } from '@jest/globals';
import { scopeDescription } from './scope-description.js';

describe('scopeDescription', () => {
  it.each([
    ['payments', undefined, 'Payments workflows.'],
    ['9lives', '', '9Lives workflows.'],
    ['node.js', null, 'Node.Js workflows.'],
    ['bank_wire-transfers', ' \n', 'Bank Wire Transfers workflows.'],
    ['payments', 'card payments,; ', 'card payments.'],
    ['payments', 'Really?', 'Really?'],
    ['payments', 'fleetmend\u200bloop', 'fleetmend·loop.'],
  ])('describes %s with %j as %s', (scope, host, description) => {
    expect(scopeDescription(scope, host)).toBe(description);
  });
  it('has a sentence of its own for the general scopes, which a host may outrank', () => {
    expect(scopeDescription('global')).toMatch(/^[A-Z].*\.$/);
    expect(scopeDescription('scoped')).toMatch(/^[A-Z].*\.$/);
    expect(scopeDescription('global', 'For all.')).toBe('For all.');
  });
});
