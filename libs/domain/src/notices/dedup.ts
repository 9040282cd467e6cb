/**
 * What a session's alerts remember between turns (BEHAVIOUR 4): the last signature set, sorted, and the cooldown counter.
 * Null while the session is not alerting.
 */
export interface AlertMemory {
  readonly signatures: readonly string[];
  readonly cooldownLeft: number;
}

export interface AlertVerdict {
  readonly memory: AlertMemory | null;
  readonly post: boolean;
  /** The session was alerting and is not any more. */
  readonly recovered: boolean;
}

/**
 * Folds the standing set of one report, in turn order. A new signature posts; the same set posts again only when
 * `cooldownTurns` is positive and has run out.
 */
export function foldAlert(before: AlertMemory | null, current: readonly string[], cooldownTurns: number): AlertVerdict {
  if (current.length === 0) return { memory: null, post: false, recovered: before !== null };
  const signatures = [...new Set(current)].sort();
  if (posts(before, signatures, cooldownTurns))
    return { memory: { signatures, cooldownLeft: cooldownTurns }, post: true, recovered: false };
  return { memory: { signatures, cooldownLeft: Math.max(0, (before?.cooldownLeft ?? 0) - 1) }, post: false, recovered: false };
}

function posts(before: AlertMemory | null, signatures: readonly string[], cooldownTurns: number): boolean {
  if (before === null || signatures.some((one) => !before.signatures.includes(one))) return true;
  const same = signatures.length === before.signatures.length;
  return same && cooldownTurns > 0 && before.cooldownLeft <= 0;
}
