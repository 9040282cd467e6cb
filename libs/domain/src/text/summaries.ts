import { codePointLength, firstCodePoints } from './code-points.js';
import { sanitize, type SanitizeOptions } from './sanitize.js';
import { collapseWhiteSpace } from './white-space.js';

/** Code points a task summary may have. */
export const TASK_SUMMARY_MAX = 600;
/** Code points a snippet may have, its ellipsis included. */
export const SNIPPET_MAX = 240;

/** A task summary from a host: white space collapsed, then sanitised to 600 code points. */
export function taskSummary(text: string | null | undefined, options: Pick<SanitizeOptions, 'markers'> = {}): string {
  return sanitize(collapseWhiteSpace(text ?? ''), { ...options, maxLength: TASK_SUMMARY_MAX });
}

/** The beginning of a longer text on one line: `maxLength` code points at most, the final `…` of a cut included. */
export function snippet(text: string, maxLength = SNIPPET_MAX): string {
  const line = collapseWhiteSpace(text);
  if (maxLength <= 0 || codePointLength(line) <= maxLength) return line;
  return `${firstCodePoints(line, maxLength - 1)}…`;
}
