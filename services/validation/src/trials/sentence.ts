import type { TrialVerdict, WatchVerdict } from '#domain/evidence';
import type { Sentence } from '../postgres/verdict-store.js';

/** What a trial came to: of a candidate, or of a promoted rule under watch. */
export type Verdict = TrialVerdict | { readonly verdict: Exclude<WatchVerdict, 'watching'> };

/** What a verdict does to its rule; null while there is none, and where it changes nothing. */
export function sentenceOf(verdict: Verdict): Sentence | null {
  switch (verdict.verdict) {
    case 'promote':
      return { kind: 'promote' };
    case 'retire':
      return { kind: 'retire', reason: verdict.reason };
    case 'harmful':
      return { kind: 'retire', reason: 'harmful' };
    case 'pending':
    case 'confirmed':
    case 'stale':
      return null;
  }
}
