import type { Ending } from '../job-ending.js';
import { keepRecent } from '../keep-recent.js';
import type { ClaimedJob } from '../postgres/job-claims.js';
import { backoffMs } from './trouble.js';

/** So many in a row are no chance: the provider hangs, and each further question would hold a slot for as long as it may take. */
const IN_A_ROW = 3;
const PROVIDERS_MAX = 10_000;

/** Tells a provider that hangs from a question that takes long, by what this process has seen of it. */
export class TimeOuts {
  private readonly inARow = new Map<string, number>();

  /** The ending of one question: a time-out waits longer each time, and lets the provider rest when it is one of several in a row. */
  heed({ project, provider, attempts, probing }: ClaimedJob, ending: Ending, answered: boolean): Ending {
    const key = `${project} ${provider}`;
    if (answered) this.inARow.delete(key);
    if (ending.kind !== 'failed' || ending.late !== true) return ending;
    const { error } = ending;
    const count = (this.inARow.get(key) ?? 0) + 1;
    keepRecent(this.inARow, key, count, PROVIDERS_MAX);
    // Whoever tries for the others and waits in vain has found what there is to find.
    if (probing || count >= IN_A_ROW) return { kind: 'rest', code: 'unavailable', error, delayMs: backoffMs(0) };
    return { ...ending, delayMs: Math.max(ending.delayMs, backoffMs(attempts)) };
  }
}
