import { boundEvidence } from './bounded-json.js';
import { sanitize } from './sanitize.js';
import { scopeDescription } from './scope-description.js';
import { isSensitiveKey } from './sensitive-key.js';
import { snippet, taskSummary } from './summaries.js';
import { cleanTags } from './tags.js';
import { tokens } from './tokens.js';

/** The marker phrases that `sanitize.jsonl` was made with. */
const GOLDEN_MARKERS: readonly string[] = ['pandaprobe harness', 'system alert', 'harness:'];

/** One parsed line of `sanitize.jsonl`, without its answers. */
export interface SanitizeLine {
  readonly kind: string;
  readonly input: unknown;
  readonly max_len?: number;
  readonly scope?: string;
}

export interface SanitizeAnswer {
  readonly once?: string;
  readonly output: unknown;
}

const markers = { markers: GOLDEN_MARKERS };

const ANSWERERS: ReadonlyMap<string, (line: SanitizeLine) => SanitizeAnswer> = new Map([
  ['sanitize', (line) => ({ output: sanitize(textOf(line.input), bounds(line)) })],
  ['sanitize_twice', (line) => twice(textOf(line.input), line)],
  ['sensitive_key', (line) => ({ output: isSensitiveKey(textOf(line.input)) })],
  ['task_summary', (line) => ({ output: taskSummary(textOf(line.input), markers) })],
  ['scope_description', (line) => ({ output: scopeDescription(line.scope ?? '', textOf(line.input), markers) })],
  ['snippet', (line) => ({ output: snippet(textOf(line.input)) })],
  ['tags', (line) => ({ output: cleanTags(Array.isArray(line.input) ? line.input.map(textOf) : []) })],
  ['tokens', (line) => ({ output: tokens(textOf(line.input)) })],
  ['evidence', (line) => ({ output: boundEvidence(line.input, line.max_len ?? 0) })],
]);

/**
 * Answers one line of the golden file `sanitize.jsonl`, with the fields and names of the file.
 * @throws RangeError for a kind the file does not have
 */
export function answerSanitizeLine(line: SanitizeLine): SanitizeAnswer {
  const answer = ANSWERERS.get(line.kind);
  if (answer === undefined) {
    throw new RangeError(`Unknown kind "${line.kind}" in a sanitize line; the file has ${[...ANSWERERS.keys()].join(', ')}.`);
  }
  return answer(line);
}

function twice(text: string, line: SanitizeLine): SanitizeAnswer {
  const once = sanitize(text, bounds(line));
  return { once, output: sanitize(once, bounds(line)) };
}

function bounds(line: SanitizeLine): { markers: readonly string[]; maxLength?: number } {
  return { markers: GOLDEN_MARKERS, ...(line.max_len === undefined ? {} : { maxLength: line.max_len }) };
}

function textOf(input: unknown): string {
  if (typeof input === 'string') return input;
  return typeof input === 'number' || typeof input === 'boolean' ? String(input) : '';
}
