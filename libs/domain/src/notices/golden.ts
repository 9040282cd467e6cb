import { closedBreaker, passBreaker, type Breaker, type BreakerSettings } from './breaker.js';
import { foldAlert, type AlertMemory, type AlertVerdict } from './dedup.js';

interface DedupConfig extends BreakerSettings {
  readonly alert_cooldown_turns: number;
  readonly observe_only?: boolean;
}

const defaults: DedupConfig = { alert_cooldown_turns: 0, circuit_breaker_max_notices: 5, circuit_breaker_window_s: 600 };

export interface DedupLine {
  readonly config?: Partial<DedupConfig> | undefined;
  readonly turns: readonly { session: string; t: number; signatures: readonly string[] }[];
}

export interface DedupOutcome {
  readonly posted: boolean;
  readonly journaled_notice: boolean;
  readonly severity: 'breach' | 'trend' | 'needs_human' | null;
  readonly notice_signatures: readonly string[] | null;
  readonly recovery: boolean;
  readonly breaker_tripped: boolean;
  readonly window_count: number;
  readonly cooldown_left: number | null;
}

/** The turns of a fleet through dedup and one breaker (`coalesce=session`): what `fleetmend notice dedup` answers for one line. */
export function replayNotices({ config, turns }: DedupLine): { outcomes: DedupOutcome[] } {
  const settings = { ...defaults, ...config };
  const memories = new Map<string, AlertMemory | null>();
  let breaker: Breaker = closedBreaker;
  const outcomes = turns.map(({ session, t, signatures }) => {
    const verdict = foldAlert(memories.get(session) ?? null, signatures, settings.alert_cooldown_turns);
    memories.set(session, verdict.memory);
    const shadow = settings.observe_only === true;
    const passed = verdict.post && !shadow ? passBreaker(breaker, t, settings) : null;
    breaker = verdict.recovered && !shadow ? closedBreaker : (passed?.breaker ?? breaker);
    return outcome(verdict, passed?.passage ?? (verdict.post ? 'shadow' : null), breaker);
  });
  return { outcomes };
}

function outcome(
  verdict: AlertVerdict,
  passage: 'post' | 'needs_human' | 'suppress' | 'shadow' | null,
  breaker: Breaker,
): DedupOutcome {
  const shown = passage !== null && passage !== 'suppress';
  const signatures = shown ? (verdict.memory?.signatures ?? []) : null;
  return {
    posted: passage === 'post' || passage === 'needs_human',
    journaled_notice: shown,
    severity: signatures === null ? null : passage === 'needs_human' ? 'needs_human' : noticeSeverity(signatures),
    notice_signatures: signatures,
    recovery: verdict.recovered,
    breaker_tripped: breaker.open,
    window_count: breaker.counted.length,
    cooldown_left: verdict.memory?.cooldownLeft ?? null,
  };
}

/** `breach` when one of the signatures is a breach, else `trend`. */
export function noticeSeverity(signatures: readonly string[]): 'breach' | 'trend' {
  return signatures.some((one) => one.startsWith('breach:')) ? 'breach' : 'trend';
}
