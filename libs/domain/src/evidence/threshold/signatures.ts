/** What decides which sessions and cases are a rule's business. */
export interface RuleTarget {
  readonly metric: string | null;
  readonly tags: readonly string[];
}

const CONDITIONS = ['breach', 'stall', 'regression'];
const SIGNATURE = /^(?:breach|stall|regression):(.+)$/;

/** Whether a signature belongs to the family of a metric. Every signature belongs to the family of no metric. */
export function inFamily(signature: string, metric: string | null): boolean {
  return metric === null || signature.endsWith(`:${metric}`);
}

/** The signatures that a rule is meant for: its tags that are signatures, in order, then every condition on its metric. */
export function targetSignatures({ metric, tags }: RuleTarget): string[] {
  const own = tags.filter((tag) => SIGNATURE.test(tag));
  const family = metric === null ? [] : CONDITIONS.map((condition) => `${condition}:${metric}`);
  return [...new Set([...own, ...family])];
}

export function metricOf(signature: string): string | null {
  const at = signature.indexOf(':');
  return at < 0 ? null : signature.slice(at + 1);
}

/** The metrics that a rule answers for on failure cases, sorted: a fall of one of them there retires it. */
export function answeredMetrics({ metric, tags }: RuleTarget): string[] {
  const tagged = tags.flatMap((tag) => SIGNATURE.exec(tag)?.[1] ?? []);
  return [...new Set(['outcome_correct', ...(metric === null ? [] : [metric]), ...tagged])].sort();
}
