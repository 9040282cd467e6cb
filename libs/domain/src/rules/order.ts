import type { RuleCore } from './rule.js';
import { GLOBAL_SCOPE } from './scope.js';

type Aged = Pick<RuleCore, 'id' | 'created_at'>;
type Standing = Aged & Pick<RuleCore, 'status'>;

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Newest first, then by id: what breaks a tie of scores. */
export function byNewest(a: Aged, b: Aged): number {
  return b.created_at - a.created_at || byText(a.id, b.id);
}

/** Within a scope: active rules first, then oldest first, then by id. */
export function byStanding(a: Standing, b: Standing): number {
  return Number(b.status === 'active') - Number(a.status === 'active') || a.created_at - b.created_at || byText(a.id, b.id);
}

/** The reading order of scopes: `global` first, all others by name. */
export function byScope(a: string, b: string): number {
  return Number(b === GLOBAL_SCOPE) - Number(a === GLOBAL_SCOPE) || byText(a, b);
}

/**
 * The first `limit` items in the order of `compare`, sorted; none for a limit of 0. One pass that keeps only what may be
 * shown: sorting ten thousand rules to show ten costs more than all the rest of a search.
 */
export function firstOf<T>(items: Iterable<T>, limit: number, compare: (a: T, b: T) => number): T[] {
  const kept: T[] = [];
  for (const item of items) {
    const last = kept[limit - 1];
    if (limit <= 0 || (last !== undefined && compare(last, item) <= 0)) continue;
    kept.splice(placeOf(kept, item, compare), 0, item);
    if (kept.length > limit) kept.pop();
  }
  return kept;
}

function placeOf<T>(sorted: readonly T[], item: T, compare: (a: T, b: T) => number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const found = sorted[middle];
    if (found !== undefined && compare(found, item) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
