import { inFamily, outcomeOf, type Outcome } from '#domain/evidence';
import { closingOf } from './closing.js';
import type { KeptSettings } from './trial-settings.js';

/** A session in a trial whose outcome is not known, as the tables have it. */
export interface OpenEntry {
  readonly rule: string;
  readonly s: string;
  readonly exposure_us: number;
  readonly check_us: number | null;
  readonly metric: string | null;
  readonly settings: KeptSettings;
}

/** An accepted turn of a session. `fired`: every signature that a published revision of its report fired. */
export interface TurnFact {
  readonly s: string;
  readonly t: number;
  readonly accepted_us: number;
  readonly skipped: boolean;
  readonly final: boolean;
  readonly reported: boolean;
  readonly fired: readonly string[];
}

export interface SessionFacts {
  readonly turns: readonly TurnFact[];
  readonly endedUs: number | null;
}

export interface JudgedEntry {
  readonly rule: string;
  readonly s: string;
  readonly outcome: Outcome;
  /** When time alone may make it known; null when known, and when it will not. */
  readonly checkUs: number | null;
}

/** Whether a session's outcome is known by now, and when to look again. */
export function judgeEntry(entry: OpenEntry, { turns, endedUs }: SessionFacts, nowUs: number): JudgedEntry {
  const { rule, s, exposure_us: exposureUs, metric, settings } = entry;
  const finals = turns.flatMap(({ final, accepted_us: at }) => (final && at >= exposureUs ? [at] : []));
  const ends = [...finals, ...(endedUs === null ? [] : [endedUs])];
  const { closing, checkUs } = closingOf({
    ...{ nowUs, exposureUs, idleS: settings.trial_session_idle_s, graceS: settings.trial_close_grace_s },
    lastTurnUs: turns.reduce<number | null>((last, turn) => Math.max(last ?? 0, turn.accepted_us), null),
    endedUs: ends.length === 0 ? null : Math.min(...ends),
  });
  const watched = turns
    .filter(({ accepted_us: at, skipped }) => at >= exposureUs && !skipped)
    .map(({ t, accepted_us: acceptedUs, reported, fired }) => ({
      ...{ t, acceptedUs, reported },
      breached: fired.some((signature) => inFamily(signature, metric)),
    }));
  const outcome = outcomeOf(watched, settings.trial_window_turns, closing);
  return { rule, s, outcome, checkUs: outcome === null ? checkUs : null };
}
