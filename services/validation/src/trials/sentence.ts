import type { TrialVerdict } from '#domain/evidence';
import type { Sentence } from '../postgres/verdict-store.js';

/** What a verdict does to its rule; null while it is pending. */
export function sentenceOf(verdict: TrialVerdict): Sentence | null {
  switch (verdict.verdict) {
    case 'promote':
      return { kind: 'promote' };
    case 'retire':
      return { kind: 'retire', reason: verdict.reason };
    case 'pending':
      return null;
  }
}
