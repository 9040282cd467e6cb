import type { Trace } from '#contracts';
import { describe, notApplicable, scored, type CheckContext, type Fault, type Outcome } from './outcome.js';
import { identicalCalls } from './repetition.js';
import { hasWords, shingleOverlap } from './similarity.js';
import { answerText } from './text.js';
import { toolCalls } from './tool-calls.js';

/** How far back the session's answers are compared; more are ignored. */
const EARLIER_TURNS = 3;

interface Repetition {
  readonly share: number;
  readonly faults: readonly Fault[];
}

/**
 * 1 - the worst repetition found. Inside the turn: (k - 1) / n for the tool call made k times among n with recorded
 * arguments. Across turns: the overlap of this answer with the most similar of the last 3 (three-word shingles).
 */
export function loopDetection(trace: Trace, { turn, earlierAnswers }: CheckContext): Outcome {
  const inside = repeatedCalls(trace);
  const across = repeatedAnswer(answerText(trace) || answerText(turn), earlierAnswers);
  if (inside === undefined && across === undefined) {
    return notApplicable('nothing_to_compare', 'There is one tool call at most, and no earlier answer to compare with.');
  }
  return worst(inside ?? { share: 0, faults: [] }, across ?? 0);
}

function worst({ share: calls, faults }: Repetition, answers: number): Outcome {
  if (calls === 0 && answers === 0) return scored(1, 'ok', 'Neither a tool call nor an earlier answer was repeated.');
  if (calls >= answers) {
    const spans = faults.map((fault) => fault.spanId);
    return scored(
      1 - calls,
      'repeated_call',
      `The same tool call was made ${faults.length + 1} times: ${describe(faults)}.`,
      spans,
    );
  }
  const code = answers === 1 ? 'repeated_answer' : 'similar_answer';
  return scored(1 - answers, code, `The answer repeats ${Math.round(answers * 100)} % of an earlier answer of this session.`);
}

function repeatedCalls(trace: Trace): Repetition | undefined {
  const groups = identicalCalls(toolCalls(trace));
  const total = groups.reduce((sum, group) => sum + group.length, 0);
  if (total < 2) return undefined;
  const [, ...repeats] = groups.reduce((worst, group) => (group.length > worst.length ? group : worst), []);
  const why = 'repeated an identical call';
  const faults = repeats.map((call) => ({ spanId: call.spanId, label: call.tool, why, code: 'repeated_call' }));
  return { share: repeats.length / total, faults };
}

function repeatedAnswer(answer: string, earlierAnswers: readonly string[]): number | undefined {
  const earlier = earlierAnswers.slice(0, EARLIER_TURNS).filter(hasWords);
  if (!hasWords(answer) || earlier.length === 0) return undefined;
  return Math.max(...earlier.map((text) => shingleOverlap(answer, text)));
}
