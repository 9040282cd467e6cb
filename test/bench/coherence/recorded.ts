import { normaliseTurn } from '#ingest';
import { coherenceTexts } from '#domain/checks';
import { tauBench, type TurnInput } from '#recordings';
import { readShared } from '../../support/root.js';

export interface Texts {
  readonly request: string;
  readonly answer: string;
}

/** One recorded conversation: the texts of its turns, in order, without those that have no words on one side. */
export interface Conversation {
  readonly task: number;
  readonly solved: boolean;
  readonly turns: readonly Texts[];
}

/** The 100 tau-bench recordings: 25 tasks of one airline, each tried four times by one agent. */
export function conversations(): Conversation[] {
  return readShared('tau-bench/gpt-4o-airline-tasks-00-24.jsonl')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const row = JSON.parse(line) as { task_id: number };
      const { turns, reward } = tauBench(row, { domain: 'airline' });
      return { task: row.task_id, solved: reward === 1, turns: turns.flatMap(textsOf) };
    });
}

function textsOf(input: TurnInput): Texts[] {
  const normalised = normaliseTurn(input);
  if (!normalised.ok) throw new Error(`a recorded turn is not one: ${JSON.stringify(normalised.errors)}`);
  const { turn } = normalised;
  return (turn.traces ?? []).flatMap((trace) => {
    const texts = coherenceTexts(trace, turn);
    return 'missing' in texts ? [] : [texts];
  });
}

/** How often every conversation is told again with answers that are not to its requests. */
const RETELLINGS = 5;

/**
 * Every conversation five times over, each request with the answer of a turn of another task: what an agent would look like that
 * answers beside the point. The answers are drawn evenly over all recordings by position, so that a second run pairs the same. They
 * are of the same airline: harder to tell from the right ones than answers on another subject.
 */
export function beside(all: readonly Conversation[]): Texts[][] {
  const answers = all.flatMap(({ task, turns }) => turns.map(({ answer }) => ({ task, answer })));
  return Array.from({ length: RETELLINGS }, (_, n) => {
    let at = Math.round(((n + 0.5) * answers.length) / RETELLINGS);
    return all.map(({ task, turns }) => turns.map(({ request }) => ({ request, answer: ofAnotherTask(answers, task, at++) })));
  }).flat();
}

function ofAnotherTask(answers: readonly { task: number; answer: string }[], task: number, from: number): string {
  for (let step = 0; step < answers.length; step += 1) {
    const other = answers[(from + step) % answers.length];
    if (other !== undefined && other.task !== task) return other.answer;
  }
  throw new Error('the recordings are all of one task');
}
