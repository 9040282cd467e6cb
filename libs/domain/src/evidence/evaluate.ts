import { effectSequence, hasSampleRatioMismatch, type Interval } from './confidence-sequence.js';
import { decideTrial, noContext, trialDefaults, type TrialContext, type TrialSettings, type TrialVerdict } from './decision.js';
import { liveBets, type LogEvidence } from './live-e-process.js';
import {
  beginTrial,
  countedSessions,
  evidenceOf,
  liveEffect,
  observe,
  replayEffect,
  winHarm,
  type Observation,
  type TrialEvidence,
  type TrialState,
} from './trial.js';

/** Everything that a verdict is stored with. */
export interface TrialSummary {
  readonly evidence: TrialEvidence;
  /** Log e-values for harm on wins, by metric. */
  readonly winHarm: Readonly<Record<string, number>>;
  readonly effect: { readonly live: number | null; readonly replay: number | null };
  /** Of the live effect; the true one stays inside at all times, but for a share of `trial_alpha` of trials. Null without a session. */
  readonly interval: Interval | null;
  /** The arms are not as large as they should be: something in front of the trial treats them differently. */
  readonly sampleRatioMismatch: boolean;
}

export function summarise(state: TrialState, settings: Pick<TrialSettings, 'trial_alpha'> = trialDefaults): TrialSummary {
  return {
    evidence: evidenceOf(state, liveBets(state.allocation)),
    winHarm: winHarm(state),
    effect: { live: liveEffect(state.sessions), replay: replayEffect(state.pairs) },
    interval: countedSessions(state.sessions) === 0 ? null : effectSequence(state.sessions, settings.trial_alpha),
    sampleRatioMismatch: hasSampleRatioMismatch(state.sessions, state.allocation),
  };
}

export interface EvaluatedTrial {
  readonly verdict: TrialVerdict;
  /** The observations at the first verdict that is not pending, from 1; null while pending, and for one that time alone brought. */
  readonly decidedAt: number | null;
  /** The state when it was decided; after all observations while it is not. */
  readonly state: TrialState;
  /** Total evidence after each observation, those after the verdict included. */
  readonly totals: readonly LogEvidence[];
}

export interface TrialConditions {
  readonly allocation: number;
  readonly settings: TrialSettings;
  /** Its age counts after the last observation: until then a trial was younger. */
  readonly context?: TrialContext;
}

/**
 * A whole trial anew from its observations, in the order in which they were counted: the stored state and verdict follow from
 * them exactly.
 */
export function evaluateTrial(observations: readonly Observation[], conditions: TrialConditions): EvaluatedTrial {
  const { allocation, settings, context = noContext } = conditions;
  const bets = liveBets(allocation);
  const young = { ...context, ageDays: 0 };
  let state = beginTrial(allocation);
  let decided: Omit<EvaluatedTrial, 'totals'> | null = null;
  const totals: LogEvidence[] = [];
  for (const one of observations) {
    state = observe(state, one);
    totals.push(evidenceOf(state, bets).total);
    if (decided !== null) continue;
    const verdict = decideTrial(state, bets, settings, young);
    if (verdict.verdict !== 'pending') decided = { verdict, decidedAt: totals.length, state };
  }
  return { ...(decided ?? { verdict: decideTrial(state, bets, settings, context), decidedAt: null, state }), totals };
}
