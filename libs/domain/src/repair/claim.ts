import type { ResolvingStatus } from '#contracts';
import type { RuleStatus } from '../rules/index.js';

/** The rule that an incident was repaired with, as it is when the fault recurs. */
export interface Cover {
  readonly ruleId: string;
  readonly status: RuleStatus;
  readonly withdrawn: boolean;
  /** Whether this session was shown it. */
  readonly shown: boolean;
}

export interface ClaimFacts {
  /** The run before died without an end. */
  readonly crashed: boolean;
  /** The rule that an earlier run of this episode wrote. */
  readonly candidate: string | null;
  readonly cover: Cover | null;
}

export type ClaimDecision =
  /** Ended without asking a model. */
  | {
      readonly kind: 'settle';
      readonly status: Extract<ResolvingStatus, 'candidate_added' | 'already_covered' | 'duplicate'>;
      readonly ruleId: string;
    }
  | { readonly kind: 'ask' };

/**
 * What becomes of an episode when a worker has taken it. A rule that a crashed run wrote is acknowledged: nothing else was left to do.
 * What recurs is covered while its rule is on trial, or proven and not shown here yet; a rule that was shown and did not help, or is not
 * read any more, does not stand for it.
 */
export function decideClaim({ crashed, candidate, cover }: ClaimFacts): ClaimDecision {
  if (candidate !== null) return crashed ? { kind: 'settle', status: 'candidate_added', ruleId: candidate } : { kind: 'ask' };
  if (cover === null || cover.withdrawn) return { kind: 'ask' };
  const { ruleId } = cover;
  switch (cover.status) {
    case 'candidate':
      return { kind: 'settle', status: 'already_covered', ruleId };
    case 'active':
      return cover.shown ? { kind: 'ask' } : { kind: 'settle', status: 'duplicate', ruleId };
    case 'retired':
      return { kind: 'ask' };
  }
}
