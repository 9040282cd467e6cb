import { inFamily } from './signatures.js';

/** Sessions under a candidate: which were seen, in order, and which of them breached. */
export interface ForwardTrial {
  readonly observed: readonly string[];
  readonly breached: readonly string[];
}

export const noTrial: ForwardTrial = { observed: [], breached: [] };

export interface SessionReport {
  readonly session: string;
  readonly signatures: readonly string[];
}

export interface ForwardSettings {
  readonly rule_trial_min_sessions: number;
  readonly rule_promote_margin: number;
}

/** Folds a report. Once enough sessions are seen a new one is not taken, though a known one may still turn out breached. */
export function observeReport(
  trial: ForwardTrial,
  { session, signatures }: SessionReport,
  metric: string | null,
  minSessions: number,
): ForwardTrial {
  const known = trial.observed.includes(session);
  if (!known && trial.observed.length >= minSessions) return trial;
  const observed = known ? trial.observed : [...trial.observed, session];
  const newly = signatures.some((one) => inFamily(one, metric)) && !trial.breached.includes(session);
  return { observed, breached: newly ? [...trial.breached, session] : trial.breached };
}

/** A notice or a recovery of the journal; a recovery has no signatures. */
export interface JournaledEvent {
  readonly session_id: string;
  readonly signatures: readonly string[] | null;
}

export interface Baseline {
  readonly baseline_sessions: number;
  readonly baseline_breached_sessions: number;
  /** Events looked at, those without a session included. */
  readonly baseline_window: number;
}

const BASELINE_EVENTS = 200;

/** Sessions before the rule, by the newest 200 events (given oldest first). */
export function baselineOf(events: readonly JournaledEvent[], metric: string | null): Baseline {
  const window = events.slice(-BASELINE_EVENTS);
  const named = window.filter(({ session_id: session }) => session !== '');
  const breached = named.filter(({ signatures }) => signatures?.some((one) => inFamily(one, metric)) === true);
  return {
    baseline_sessions: distinctSessions(named),
    baseline_breached_sessions: distinctSessions(breached),
    baseline_window: window.length,
  };
}

function distinctSessions(events: readonly JournaledEvent[]): number {
  return new Set(events.map(({ session_id: session }) => session)).size;
}

/** The share of sessions that breached before the rule; 1 when nothing is known. */
export function baselineRate(baseline: Pick<Baseline, 'baseline_sessions' | 'baseline_breached_sessions'>): number {
  return baseline.baseline_sessions === 0 ? 1 : baseline.baseline_breached_sessions / baseline.baseline_sessions;
}

export interface ForwardCounts {
  readonly observed: number;
  readonly breached: number;
}

/** 0 when nothing was observed. */
export function trialRate({ observed, breached }: ForwardCounts): number {
  return observed === 0 ? 0 : breached / observed;
}

export interface ForwardVerdict {
  readonly validator: 'forward_trial';
  readonly outcome: 'promote' | 'retire' | 'pending';
  readonly pending_reason: 'trial_in_progress' | null;
  readonly reason: string;
}

/** Method `threshold` on live sessions (BEHAVIOUR 11), the seed's: without a control, which is why it is not the default. */
export function forwardVerdict(trial: ForwardCounts, baseline: number, settings: ForwardSettings): ForwardVerdict {
  const { rule_trial_min_sessions: needed, rule_promote_margin: margin } = settings;
  const validator = 'forward_trial';
  if (trial.observed < needed) {
    const reason = `${trial.observed} of ${needed} sessions observed`;
    return { validator, outcome: 'pending', pending_reason: 'trial_in_progress', reason };
  }
  const rate = trialRate(trial);
  const outcome = rate === 0 || rate <= baseline - margin ? 'promote' : 'retire';
  const reason = `breach rate ${rate.toFixed(2)} against ${baseline.toFixed(2)} before, over ${trial.observed} sessions`;
  return { validator, outcome, pending_reason: null, reason };
}
