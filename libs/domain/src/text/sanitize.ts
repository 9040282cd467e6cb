import { codePointLength, firstCodePoints } from './code-points.js';
import { DEFAULT_MARKERS, type MarkerBreaker, markerBreaker, REMOVED } from './markers.js';

/** What text from outside may measure, in code points, when the caller names no other cap. */
export const SANITIZED_MAX = 2000;

export interface SanitizeOptions {
  /** Cap in code points, the truncation mark included; 0 or less means none. */
  readonly maxLength?: number;
  /** Phrases to break with a middle dot; by default the product's own. */
  readonly markers?: readonly string[];
}

const TRUNCATED = '…[truncated]';
const TRUNCATED_LENGTH = codePointLength(TRUNCATED);

// CSI sequences, and control strings (OSC, DCS, SOS, PM, APC) up to their terminator, in 7-bit and 8-bit form.
// A string's body excludes every introducer, so that unterminated ones cannot make the search quadratic.
const ESCAPE_SEQUENCES =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)/g;
// Controls except newline and tab (so CR and C1 go), then zero-width and bidirectional characters.
const INVISIBLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]{1,4096}/g;
const REMOVED_MARKS = /\0+/g;
// Bounded, because an unbounded repetition over megabytes overflows the stack of the regular expression engine.
const RULER = /={8,4096}|-{8,4096}|#{8,4096}/g;

const defaultBreaker = markerBreaker(DEFAULT_MARKERS);

/**
 * Makes text from outside (judge reasons, trace text, rule text, host summaries) safe to show and to put in a prompt.
 * In order: escape sequences, control and invisible characters, marker phrases, rulers (8 or more of `=`, `-`, `#`
 * shrink to 7), length (cut with a `…[truncated]` mark). Null and undefined give the empty text. Idempotent for the default markers.
 */
export function sanitize(text: string | null | undefined, options: SanitizeOptions = {}): string {
  if (text === null || text === undefined || text === '') return '';
  const breakMarkers = breakerFor(options.markers);
  const visible = breakMarkers(text.replace(ESCAPE_SEQUENCES, REMOVED).replace(INVISIBLE, REMOVED)).replace(REMOVED_MARKS, '');
  return truncate(shrinkRulers(visible), options.maxLength ?? SANITIZED_MAX);
}

function breakerFor(markers: readonly string[] | undefined): MarkerBreaker {
  return markers === undefined || markers === DEFAULT_MARKERS ? defaultBreaker : markerBreaker(markers);
}

function shrinkRulers(text: string): string {
  let before = text;
  let after = before.replace(RULER, (run) => run.slice(0, 7));
  // What was longer than the bound left pieces that touch.
  while (after !== before) {
    before = after;
    after = before.replace(RULER, (run) => run.slice(0, 7));
  }
  return after;
}

function truncate(text: string, maxLength: number): string {
  if (maxLength <= 0 || text.length <= maxLength || codePointLength(text) <= maxLength) return text;
  // A cap shorter than the mark cuts without it: the result may never be longer than asked.
  if (maxLength < TRUNCATED_LENGTH) return firstCodePoints(text, maxLength);
  return firstCodePoints(text, maxLength - TRUNCATED_LENGTH) + TRUNCATED;
}
