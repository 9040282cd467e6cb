import {
  decideTrial,
  watchRule,
  type TrialContext,
  type TrialSettings,
  type TrialVerdict,
  type WatchSettings,
  type WatchVerdict,
} from './decision.js';
import { liveBets } from './live-e-process.js';
import { observe, type Observation, type TrialState } from './trial.js';

export interface Advance {
  readonly state: TrialState;
  /** Of the observations given, how many were counted: all, or those up to the one that decided. */
  readonly counted: number;
  readonly verdict: TrialVerdict;
}

/**
 * A trial after further observations, in the order in which they are counted; it stops at the first verdict. Without any the verdict
 * is asked as things stand, for time alone may end a trial.
 */
export function advanceTrial(
  before: TrialState,
  observations: readonly Observation[],
  settings: TrialSettings,
  context: TrialContext,
): Advance {
  const bets = liveBets(before.allocation);
  let state = before;
  for (const [at, one] of observations.entries()) {
    state = observe(state, one);
    const verdict = decideTrial(state, bets, settings, { ...context, ageDays: 0 });
    if (verdict.verdict !== 'pending') return { state, counted: at + 1, verdict };
  }
  return { state, counted: observations.length, verdict: decideTrial(state, bets, settings, context) };
}

export interface WatchAdvance {
  readonly state: TrialState;
  readonly counted: number;
  readonly verdict: WatchVerdict;
}

/** A promoted rule under watch after further sessions; it stops at the first verdict. */
export function advanceWatch(before: TrialState, observations: readonly Observation[], settings: WatchSettings): WatchAdvance {
  const bets = liveBets(before.allocation);
  let state = before;
  for (const [at, one] of observations.entries()) {
    state = observe(state, one);
    const verdict = watchRule(state, bets, settings);
    if (verdict !== 'watching') return { state, counted: at + 1, verdict };
  }
  return { state, counted: observations.length, verdict: 'watching' };
}
