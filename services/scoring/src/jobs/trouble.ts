import type { Ending } from '../job-ending.js';
import type { Spent } from '../postgres/usage-rows.js';

/** A value could not be made; `ending` says what becomes of the job, `spent` what was spent all the same. */
export class Trouble extends Error {
  override readonly name = 'Trouble';

  constructor(
    readonly ending: Exclude<Ending, { kind: 'done' }>,
    readonly spent: Spent | null = null,
    options: ErrorOptions = {},
  ) {
    super('error' in ending ? ending.error : ending.kind, options);
  }
}

const FIRST_DELAY_MS = 5_000;
const LAST_DELAY_MS = 600_000;

/** Doubling from 5 s to 10 min. */
export function backoffMs(attempts: number): number {
  return Math.min(LAST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(attempts, 20));
}

/** Between two tries of a provider that waits for a person. */
export const BLOCKED_DELAY_MS = 60_000;

const WORST_FIRST = ['blocked', 'rest', 'failed', 'dropped', 'returned', 'done'] as const;

/** What becomes of a job whose values ended in different ways: the worst of them. */
export function worst(endings: readonly Ending[]): Ending {
  const [first] = [...endings].sort((a, b) => WORST_FIRST.indexOf(a.kind) - WORST_FIRST.indexOf(b.kind));
  return first ?? { kind: 'done' };
}
