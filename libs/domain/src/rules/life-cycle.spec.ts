import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { changeRule, isDelivered, isHeld, newCandidate, type RuleActor, type RuleChange, type RuleState } from './life-cycle.js';

const candidate = newCandidate({ mode: 'auto' }, 0);
const active: RuleState = { status: 'active', promoted_at: 1, withdrawn_at: null };
const retired: RuleState = { status: 'retired', retired_at: 2, reason: 'harmful', withdrawn_at: null };
const withdrawn = { ...active, withdrawn_at: 3 };
const held = newCandidate({ mode: 'approve' }, 0);
const change = (state: RuleState, kind: RuleChange['kind'], actor: RuleActor, now = 10) =>
  changeRule(state, kind === 'retire' ? { kind, reason: 'why' } : { kind }, { actor, now });

describe('a rule', () => {
  it.each([
    ['a candidate is promoted by validation', candidate, 'promote', 'validation', { status: 'active', promoted_at: 10 }],
    [
      'a candidate is retired by validation',
      candidate,
      'retire',
      'validation',
      { status: 'retired', retired_at: 10, reason: 'why' },
    ],
    ['an active rule is retired by validation', active, 'retire', 'validation', { status: 'retired' }],
    ['an active rule is retired by an operator', active, 'retire', 'operator', { status: 'retired' }],
    ['a held candidate is retired by an operator: the veto', held, 'retire', 'operator', { status: 'retired' }],
    ['a held candidate is approved', held, 'approve', 'operator', { status: 'candidate', hold: null }],
    ['a rule is withdrawn and keeps its status', active, 'withdraw', 'operator', { status: 'active', withdrawn_at: 10 }],
    ['a withdrawn rule is restored', withdrawn, 'restore', 'operator', { status: 'active', withdrawn_at: null }],
    ['a withdrawn rule is retired by an operator', withdrawn, 'retire', 'operator', { status: 'retired', withdrawn_at: 3 }],
  ] as const)('%s', (_, state, kind, actor, after) => {
    expect(change(state, kind, actor)).toMatchObject({ ok: true, state: after });
  });
  it.each([
    ['promoted by an operator', candidate, 'promote', 'operator', 'not_allowed'],
    ['promoted by repair', candidate, 'promote', 'repair', 'not_allowed'],
    ['withdrawn by validation', active, 'withdraw', 'validation', 'not_allowed'],
    ['promoted twice', active, 'promote', 'validation', 'not_possible'],
    ['promoted after it was retired', retired, 'promote', 'validation', 'not_possible'],
    ['promoted while it is held', held, 'promote', 'validation', 'not_possible'],
    ['retired twice', retired, 'retire', 'operator', 'not_possible'],
    ['retired by validation while it is withdrawn', withdrawn, 'retire', 'validation', 'not_possible'],
    ['approved when it is not held', candidate, 'approve', 'operator', 'not_possible'],
    ['approved when it is active', active, 'approve', 'operator', 'not_possible'],
    ['withdrawn twice', withdrawn, 'withdraw', 'operator', 'not_possible'],
    ['restored when it is not withdrawn', active, 'restore', 'operator', 'not_possible'],
  ] as const)('cannot be %s', (_, state, kind, actor, code) => {
    expect(change(state, kind, actor)).toMatchObject({ ok: false, code, error: expect.any(String) });
  });
  it('under a veto is held until the window ends, then tried', () => {
    const vetoable = newCandidate({ mode: 'veto', window_s: 5 }, 1_000);
    expect([5_999, 6_000].map((now) => isHeld(vetoable, now))).toEqual([true, false]);
    expect(change(vetoable, 'promote', 'validation', 5_999).ok).toBe(false);
    expect(change(vetoable, 'promote', 'validation', 6_000).ok).toBe(true);
  });
  it('is delivered when it is live, not withdrawn and not held', () => {
    expect([candidate, active, retired, withdrawn, held].map((state) => isDelivered(state, 10))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
  it('never comes back from retirement, whatever is tried and by whom', () => {
    const step = fc.tuple(
      fc.constantFrom('promote', 'retire', 'approve', 'withdraw', 'restore' as const),
      fc.constantFrom('repair', 'validation', 'operator' as const),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        let state: RuleState = candidate;
        for (const [at, [kind, actor]] of steps.entries()) {
          const before: RuleState = state;
          const result = change(before, kind, actor, at);
          if (result.ok) state = result.state;
          if (before.status === 'retired') expect(state.status).toBe('retired');
          if (before.status === 'active') expect(state.status).not.toBe('candidate');
          if (actor === 'repair') expect(result.ok).toBe(false);
        }
      }),
    );
  });
});
