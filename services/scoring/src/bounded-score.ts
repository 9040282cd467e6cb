import type { Score } from '#contracts';
import { redactText, sanitize, storable } from '#domain/text';

/** Spans at fault that a score names: enough to look at, and a thousand failing calls still make a small message. */
const SPANS_MAX = 50;
/** Characters of a reason: a check may quote what a tool said, and a verifier may send a whole log. */
const REASON_MAX = 2_000;

/** A score as it is stored and travels: all scores of a tier go in one message, which the broker must be able to take. */
export function boundedScore(score: Score): Score {
  return { ...score, reason: boundedReason(score.reason), spans: score.spans.slice(0, SPANS_MAX) };
}

/**
 * Fit for tables, journal, events and eyes: without secrets that an endpoint's words may repeat, without what steers a terminal or
 * a prompt, at most 2,000 characters, and without what the database cannot store.
 */
export function boundedReason(reason: string | null): string | null {
  return reason === null ? null : String(storable(sanitize(redactText(reason), { maxLength: REASON_MAX })).value);
}
