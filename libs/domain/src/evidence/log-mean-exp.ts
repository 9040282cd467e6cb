// Looked up once: this is the inner loop of every simulation.
const { exp, log } = Math;

/** ln(mean(exp(x))) of a list that is not empty, without leaving the range of doubles. */
export function logMeanExp(logs: readonly number[]): number {
  let highest = Number.NEGATIVE_INFINITY;
  for (const one of logs) if (one > highest) highest = one;
  let sum = 0;
  for (const one of logs) sum += exp(one - highest);
  return highest + log(sum / logs.length);
}
