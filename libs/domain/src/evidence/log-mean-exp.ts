// Looked up once: this is the inner loop of every simulation.
const { exp, log } = Math;

/** e to this is lost in the rounding of a sum that is at least 1. */
const NEGLIGIBLE = -42;

/**
 * ln(mean(exp(x))) over the logarithms of a list that is not empty, without leaving the range of doubles: the sum is kept in
 * units of its largest term so far.
 */
export function logMeanExp<Item>(items: readonly Item[], logOf: (item: Item) => number): number {
  let highest = Number.NEGATIVE_INFINITY;
  let sum = 0;
  for (const item of items) {
    const one = logOf(item);
    if (one > highest) {
      sum = 1 + sum * exp(highest - one);
      highest = one;
    } else if (one - highest > NEGLIGIBLE) sum += exp(one - highest);
  }
  return highest + log(sum / items.length);
}
