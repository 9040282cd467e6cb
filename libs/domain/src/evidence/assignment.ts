import { createHash } from 'node:crypto';

/** `treatment`: the session sees the rule under test; `control`: the rule is withheld from it. */
export type Arm = 'treatment' | 'control';

/** What decides an arm. The salt is the project's own, so that nobody outside can tell or choose the arm of a session. */
export interface Assignment {
  readonly ruleId: string;
  readonly sessionId: string;
  readonly salt: string;
}

const TWO_TO_64 = 2 ** 64;

/** A number from 0 to 1, uniform over sessions: the first 8 bytes of SHA-256 of `rule|session|salt`, big-endian, over 2^64. */
export function assignmentDraw({ ruleId, sessionId, salt }: Assignment): number {
  const digest = createHash('sha256').update(`${ruleId}|${sessionId}|${salt}`).digest();
  return Number(digest.readBigUInt64BE(0)) / TWO_TO_64;
}

/**
 * The arm of a session in the trial of one rule: the same on every worker, without storage. `allocation` is the share of sessions
 * that see the rule. Different rules give independent arms.
 */
export function armOf(assignment: Assignment, allocation: number): Arm {
  return assignmentDraw(assignment) < allocation ? 'treatment' : 'control';
}
