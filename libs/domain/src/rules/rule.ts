/** What becomes of a rule: on trial, delivered for good, or no longer delivered. */
export const ruleStatuses = ['candidate', 'active', 'retired'] as const;
export type RuleStatus = (typeof ruleStatuses)[number];

/** How far the advice reaches, by the word of who proposed it. */
export const applicabilities = ['global', 'topical', 'task'] as const;
export type Applicability = (typeof applicabilities)[number];

/** The part of a rule that every decision here needs. */
export interface RuleCore {
  readonly id: string;
  /** The sentence of advice. */
  readonly rule: string;
  /** A normalised scope. */
  readonly scope: string;
  readonly status: RuleStatus;
  /** Milliseconds since 1970. */
  readonly created_at: number;
}

/** Active and candidate rules are live: compared with proposals, and readable unless something hides them. */
export function isLive({ status }: Pick<RuleCore, 'status'>): boolean {
  return status !== 'retired';
}
