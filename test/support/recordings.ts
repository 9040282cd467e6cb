import { tauBench, type TurnInput } from '#recordings';
import { readShared } from './root.js';

/** All tau-bench recordings as turns, with the airline's tools; session by session, in order. */
export function tauBenchTurns(): TurnInput[] {
  const tools = JSON.parse(readShared('tau-bench/airline-tools.json')) as unknown[];
  const lines = readShared('tau-bench/gpt-4o-airline-tasks-00-24.jsonl')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.flatMap((line) => tauBench(JSON.parse(line), { tools, domain: 'airline' }).turns);
}
