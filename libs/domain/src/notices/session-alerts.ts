import { foldAlert, type AlertMemory } from './dedup.js';

/** What the fold needs of one report of a session, at its highest revision. */
export interface AlertTurn {
  readonly t: number;
  readonly standing: readonly string[];
  /** False: only pending, failed, not-applicable or skipped scores; such a report changes nothing. */
  readonly measured: boolean;
  readonly cooldownTurns: number;
}

/** What a turn did to its session's alerts. Turns that did nothing leave none. */
export interface AlertStep {
  readonly t: number;
  readonly memory: AlertMemory | null;
  readonly posted: boolean;
  readonly recovered: boolean;
  /** Signatures that a recovery closed, or that a post names. */
  readonly signatures: readonly string[];
}

/**
 * Folds reports in turn order from `before` (the memory after the turn before them). Pure: the steps are what should be on
 * record for these turns, whatever was there.
 */
export function foldAlerts(
  before: AlertMemory | null,
  turns: readonly AlertTurn[],
): { steps: AlertStep[]; memory: AlertMemory | null } {
  let memory = before;
  const steps: AlertStep[] = [];
  for (const { t, standing, measured, cooldownTurns } of turns) {
    if (!measured) continue;
    const verdict = foldAlert(memory, standing, cooldownTurns);
    if (verdict.memory !== null || verdict.recovered) {
      const signatures = verdict.recovered ? (memory?.signatures ?? []) : (verdict.memory?.signatures ?? []);
      steps.push({ t, memory: verdict.memory, posted: verdict.post, recovered: verdict.recovered, signatures });
    }
    memory = verdict.memory;
  }
  return { steps, memory };
}

export interface KnownNotice {
  readonly id: string;
  readonly t: number;
  readonly signatures: readonly string[];
  readonly corrected: boolean;
  /** Acknowledged by a repair: an end that later evidence does not undo. */
  readonly final: boolean;
}

export interface NoticeChanges<N extends KnownNotice> {
  readonly post: readonly AlertStep[];
  readonly correct: readonly N[];
  readonly reinstate: readonly N[];
  /** Wanted and on record, from before or again: what they say may have changed. */
  readonly keep: readonly N[];
}

/** Compares the posts that the fold wants with the notices on record for the same turns. A notice is (turn, signatures). */
export function compareNotices<N extends KnownNotice>(steps: readonly AlertStep[], known: readonly N[]): NoticeChanges<N> {
  const name = ({ t, signatures }: { t: number; signatures: readonly string[] }): string =>
    JSON.stringify([t, [...signatures].sort()]);
  const wanted = new Map(steps.filter(({ posted }) => posted).map((step) => [name(step), step]));
  const onRecord = new Set(known.map(name));
  return {
    post: [...wanted].filter(([key]) => !onRecord.has(key)).map(([, step]) => step),
    correct: known.filter((one) => !one.corrected && !one.final && !wanted.has(name(one))),
    reinstate: known.filter((one) => one.corrected && wanted.has(name(one))),
    keep: known.filter((one) => !one.final && wanted.has(name(one))),
  };
}
