import type { Trace } from '#contracts';
import { notApplicable, scored, type CheckContext, type Outcome } from './outcome.js';
import { hasWords, trigramCosine } from './similarity.js';
import { answerText, requestText } from './text.js';

/** Below this a reader would ask whether the answer is to the question; only the wording of the reason depends on it. */
const LOW = 0.2;

/**
 * Lexical similarity of request and answer text: the cosine of their character-trigram counts. The trace's own texts, or
 * the turn's where the trace has none. It sees shared words, not meaning, and therefore never gates by default.
 */
export function coherence(trace: Trace, { turn }: CheckContext): Outcome {
  const request = requestText(trace) || requestText(turn);
  if (!hasWords(request)) return notApplicable('no_request_text', 'The turn has no request text to compare with.');
  const answer = answerText(trace) || answerText(turn);
  if (!hasWords(answer)) return notApplicable('no_answer_text', 'The turn has no answer text to compare with.');
  const value = trigramCosine(request, answer);
  const code = value < LOW ? 'few_shared_words' : 'ok';
  return scored(value, code, `Request and answer share ${Math.round(value * 100)} % of their wording (character trigrams).`);
}
