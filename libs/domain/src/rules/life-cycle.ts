import type { RuleStatus } from './rule.js';

/** Why a candidate waits before its trial: for an operator's word, or for a time in which one may object. */
export type Hold = { readonly kind: 'approval' } | { readonly kind: 'veto'; readonly until: number };

/** Where a rule is in its life. Times are milliseconds since 1970. */
export type RuleState =
  | { readonly status: 'candidate'; readonly hold: Hold | null; readonly withdrawn_at: number | null }
  | { readonly status: 'active'; readonly promoted_at: number; readonly withdrawn_at: number | null }
  | { readonly status: 'retired'; readonly retired_at: number; readonly reason: string; readonly withdrawn_at: number | null };

/** Who may change rules. Repair adds candidates and changes none; agents only read. */
export type RuleActor = 'repair' | 'validation' | 'operator';

export type RuleChange =
  | { readonly kind: 'promote' }
  | { readonly kind: 'retire'; readonly reason: string }
  | { readonly kind: 'approve' }
  | { readonly kind: 'withdraw' }
  | { readonly kind: 'restore' };

export type RuleChanged =
  | { readonly ok: true; readonly state: RuleState }
  /** `not_allowed`: never for this actor. `not_possible`: not from here, or not now. */
  | { readonly ok: false; readonly code: 'not_allowed' | 'not_possible'; readonly error: string };

/** Whether candidates of a scope start their trial at once, wait for an operator, or wait whether one objects. */
export type HoldMode = { readonly mode: 'auto' | 'approve' } | { readonly mode: 'veto'; readonly window_s: number };

const ALLOWED: Readonly<Record<RuleActor, readonly RuleChange['kind'][]>> = {
  repair: [],
  validation: ['promote', 'retire'],
  // Promotion is earned by evidence only; who wants a rule delivered without any writes it into the agent.
  operator: ['retire', 'approve', 'withdraw', 'restore'],
};

/** The first state of a rule, written by repair or by an operator who edits another one. */
export function newCandidate(mode: HoldMode, now: number): RuleState {
  return { status: 'candidate', hold: holdOf(mode, now), withdrawn_at: null };
}

function holdOf(mode: HoldMode, now: number): Hold | null {
  switch (mode.mode) {
    case 'auto':
      return null;
    case 'approve':
      return { kind: 'approval' };
    case 'veto':
      return { kind: 'veto', until: now + mode.window_s * 1000 };
  }
}

/** Whether a candidate still waits for a person. */
export function isHeld(state: RuleState, now: number): boolean {
  if (state.status !== 'candidate' || state.hold === null) return false;
  return state.hold.kind === 'approval' || now < state.hold.until;
}

/** Whether reads may show it, and its trial goes on: live, not withdrawn, not held. */
export function isDelivered(state: RuleState, now: number): boolean {
  return state.status !== 'retired' && state.withdrawn_at === null && !isHeld(state, now);
}

/**
 * What a change makes of a rule, or why it may not be (BEHAVIOUR 9): candidate to active or retired, active to retired, and apart
 * from that withdrawn and restored. What is withdrawn or held has no trial, so validation cannot decide about it.
 */
export function changeRule(
  state: RuleState,
  change: RuleChange,
  by: { readonly actor: RuleActor; readonly now: number },
): RuleChanged {
  if (!ALLOWED[by.actor].includes(change.kind)) return refused('not_allowed', `${by.actor} may not ${change.kind} a rule`);
  switch (change.kind) {
    case 'promote':
      return promote(state, by.now);
    case 'retire':
      return retire(state, change.reason, by);
    case 'approve':
      return approve(state);
    case 'withdraw':
      if (state.withdrawn_at !== null) return refused('not_possible', 'the rule is withdrawn already');
      return done({ ...state, withdrawn_at: by.now });
    case 'restore':
      if (state.withdrawn_at === null) return refused('not_possible', 'the rule is not withdrawn');
      return done({ ...state, withdrawn_at: null });
  }
}

function promote(state: RuleState, now: number): RuleChanged {
  if (state.status !== 'candidate') return refused('not_possible', notFrom(state.status, 'promoted'));
  if (!isDelivered(state, now)) return refused('not_possible', 'the candidate is withdrawn or held: its trial is paused');
  return done({ status: 'active', promoted_at: now, withdrawn_at: null });
}

function retire(
  state: RuleState,
  reason: string,
  { actor, now }: { readonly actor: RuleActor; readonly now: number },
): RuleChanged {
  if (state.status === 'retired') return refused('not_possible', notFrom(state.status, 'retired'));
  if (actor === 'validation' && !isDelivered(state, now))
    return refused('not_possible', 'the rule is withdrawn or held: its trial is paused');
  return done({ status: 'retired', retired_at: now, reason, withdrawn_at: state.withdrawn_at });
}

function approve(state: RuleState): RuleChanged {
  if (state.status !== 'candidate') return refused('not_possible', notFrom(state.status, 'approved'));
  if (state.hold === null) return refused('not_possible', 'the candidate is not held');
  return done({ ...state, hold: null });
}

const notFrom = (status: RuleStatus, end: string): string => `a rule that is ${status} cannot be ${end}`;
const done = (state: RuleState): RuleChanged => ({ ok: true, state });
const refused = (code: 'not_allowed' | 'not_possible', error: string): RuleChanged => ({ ok: false, code, error });
