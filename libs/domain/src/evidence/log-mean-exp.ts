/** ln(mean(exp(x))) of a list that is not empty, without leaving the range of doubles. */
export function logMeanExp(logs: readonly number[]): number {
  let highest = -Infinity;
  for (const log of logs) if (log > highest) highest = log;
  let sum = 0;
  for (const log of logs) sum += Math.exp(log - highest);
  return highest + Math.log(sum / logs.length);
}
