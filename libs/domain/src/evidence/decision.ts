import type { LiveBets } from './live-e-process.js';
import { pairedEvidence } from './paired-e-process.js';
import { countedSessions, evidenceOf, liveEffect, replayEffect, type TrialEvidence, type TrialState } from './trial.js';

export interface TrialSettings {
  /** Probability of ever promoting a rule that does nothing. */
  readonly trial_alpha: number;
  /** Probability of ever calling a rule harmful that does nothing. */
  readonly trial_alpha_harm: number;
  /** The least observed effect that is worth having, in breach rate or in score. */
  readonly rule_promote_margin: number;
  readonly trial_max_sessions: number;
  readonly trial_max_days: number;
}

export const trialDefaults: TrialSettings = {
  trial_alpha: 0.05,
  trial_alpha_harm: 0.05,
  rule_promote_margin: 0.05,
  trial_max_sessions: 1000,
  trial_max_days: 30,
};

/** What a decision needs beside the observations. */
export interface TrialContext {
  /** Days since the trial began. */
  readonly ageDays: number;
  /** The replayable wins chosen for this candidate. */
  readonly chosenWins: readonly string[];
  /** How many metrics wins are scored on; those seen so far count when they are more. Fix it before the first pair. */
  readonly winMetrics: number;
}

export const noContext: TrialContext = { ageDays: 0, chosenWins: [], winMetrics: 0 };

export type Source = 'live' | 'replay';

export type PendingReason =
  /** The evidence has not reached its bound. */
  | 'trial_in_progress'
  /** It has, and the observed effect is below the margin. */
  | 'effect_below_margin'
  /** It has, and the other source's estimate is negative by more than the margin. */
  | 'sources_disagree'
  /** It has, by replays, and a chosen win has no counted pair yet. */
  | 'wins_not_replayed';

export type TrialVerdict =
  | { readonly verdict: 'promote'; readonly source: Source }
  | { readonly verdict: 'retire'; readonly reason: 'harmful' | 'unproven' }
  | { readonly verdict: 'pending'; readonly reason: PendingReason; readonly sessionsNeeded: number | null };

/**
 * The verdict of a trial as it stands (EVIDENCE, "Decision"), to be asked after every observation; the first that is not
 * pending is the verdict for good.
 */
export function decideTrial(state: TrialState, bets: LiveBets, settings: TrialSettings, context = noContext): TrialVerdict {
  const evidence = evidenceOf(state, bets);
  if (isHarmful(state, evidence.total.harm, settings.trial_alpha_harm, context)) return { verdict: 'retire', reason: 'harmful' };
  const source: Source = evidence.live.help >= evidence.replay.help ? 'live' : 'replay';
  const obstacle = obstacleTo(state, evidence, source, { settings, context });
  if (obstacle === null) return { verdict: 'promote', source };
  if (isOver(state, settings, context)) return { verdict: 'retire', reason: 'unproven' };
  const sessionsNeeded = estimateSessions(countedSessions(state.sessions), evidence.total.help, settings.trial_alpha);
  return { verdict: 'pending', reason: obstacle, sessionsNeeded };
}

/** Ville's bound on the whole, or on one metric of the wins, each with its share of the error. */
function isHarmful({ wins }: TrialState, totalHarm: number, alpha: number, { winMetrics }: TrialContext): boolean {
  if (totalHarm >= Math.log(1 / alpha)) return true;
  const metrics = Object.values(wins);
  return metrics.some((sums) => pairedEvidence(sums).harm >= Math.log(Math.max(metrics.length, winMetrics) / alpha));
}

function obstacleTo(
  { sessions, pairs, winCases }: TrialState,
  evidence: TrialEvidence,
  source: Source,
  { settings, context }: { settings: TrialSettings; context: TrialContext },
): PendingReason | null {
  const bound = Math.log(1 / settings.trial_alpha);
  if (evidence.total.help < bound) return 'trial_in_progress';
  const effects = { live: liveEffect(sessions), replay: replayEffect(pairs) };
  const effect = effects[source];
  if (effect === null || effect < settings.rule_promote_margin) return 'effect_below_margin';
  const other = effects[source === 'live' ? 'replay' : 'live'];
  if (other !== null && other < -settings.rule_promote_margin) return 'sources_disagree';
  const byReplay = evidence.live.help < bound;
  return byReplay && context.chosenWins.some((id) => !Object.hasOwn(winCases, id)) ? 'wins_not_replayed' : null;
}

function isOver({ sessions }: TrialState, settings: TrialSettings, { ageDays }: TrialContext): boolean {
  return countedSessions(sessions) >= settings.trial_max_sessions || ageDays >= settings.trial_max_days;
}

/**
 * How many more sessions a trial needs if its evidence goes on growing as it did: counted * (ln(1 / alpha) - ln E) / ln E, rounded
 * up. Null while it does not grow, and without sessions. A guess to plan by: evidence grows in leaps.
 */
export function estimateSessions(counted: number, logE: number, alpha: number): number | null {
  if (logE <= 0 || counted === 0) return null;
  const more = Math.max(0, Math.ceil((counted * (Math.log(1 / alpha) - logE)) / logE));
  return Number.isSafeInteger(more) ? more : null;
}

/** With `trial_familywise`, alpha is shared by the candidates that are in trial at once. */
export function familywiseAlpha(alpha: number, candidates: number): number {
  return alpha / Math.max(1, candidates);
}

export interface WatchSettings extends Pick<TrialSettings, 'trial_alpha' | 'trial_alpha_harm'> {
  /** `ablation_max_sessions` or `requalify_max_sessions`. */
  readonly max_sessions: number;
}

/** `confirmed`: it still helps. `stale`: no effect was seen in all the sessions that it was given. */
export type WatchVerdict = 'harmful' | 'confirmed' | 'stale' | 'watching';

/** An active rule under ablation or requalification: the same evidence, over sessions that see the rule and those that do not. */
export function watchRule(state: TrialState, bets: LiveBets, settings: WatchSettings): WatchVerdict {
  const { live } = evidenceOf(state, bets);
  if (live.harm >= Math.log(1 / settings.trial_alpha_harm)) return 'harmful';
  if (live.help >= Math.log(1 / settings.trial_alpha)) return 'confirmed';
  return countedSessions(state.sessions) >= settings.max_sessions ? 'stale' : 'watching';
}
