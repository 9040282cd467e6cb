import type { Trace, Turn } from '#contracts';
import { notApplicable, scored, type CheckContext, type Outcome } from './outcome.js';
import { hasWords, trigramCosine } from './similarity.js';
import { answerText, requestText } from './text.js';

/** Below this a reader would ask whether the answer is to the question; only the wording of the reason depends on it. */
const LOW = 0.2;

/** What coherence compares, whichever source does; or which side has no words. */
export type CoherenceTexts =
  | { readonly request: string; readonly answer: string }
  | { readonly missing: 'no_request_text' | 'no_answer_text'; readonly reason: string };

/** Request and answer text of a trace: its own, or the turn's where the trace has none. */
export function coherenceTexts(trace: Trace, turn: Turn): CoherenceTexts {
  const request = requestText(trace) || requestText(turn);
  if (!hasWords(request)) return { missing: 'no_request_text', reason: 'The turn has no request text to compare with.' };
  const answer = answerText(trace) || answerText(turn);
  if (!hasWords(answer)) return { missing: 'no_answer_text', reason: 'The turn has no answer text to compare with.' };
  return { request, answer };
}

/**
 * Lexical similarity of request and answer text: the cosine of their character-trigram counts. It sees shared words, not meaning,
 * and therefore never gates by default.
 */
export function coherence(trace: Trace, { turn }: CheckContext): Outcome {
  const texts = coherenceTexts(trace, turn);
  if ('missing' in texts) return notApplicable(texts.missing, texts.reason);
  const value = trigramCosine(texts.request, texts.answer);
  const code = value < LOW ? 'few_shared_words' : 'ok';
  return scored(value, code, `Request and answer share ${Math.round(value * 100)} % of their wording (character trigrams).`);
}
