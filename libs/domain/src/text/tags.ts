import { caseFold } from './case-fold.js';
import { firstCodePoints } from './code-points.js';

/** Code points of one tag, and tags of one rule. */
export const TAG_MAX = 48;
export const TAGS_MAX = 16;

/** A tag in normal form (trimmed, case-folded, 48 code points at most); empty when nothing is left. */
export function normalizeTag(tag: string): string {
  return firstCodePoints(caseFold(tag.trim()), TAG_MAX);
}

/** Tags in normal form, without blanks and repeats, in the order given, the first 16. */
export function cleanTags(tags: readonly string[]): string[] {
  const distinct = new Set(tags.map(normalizeTag));
  distinct.delete('');
  return [...distinct].slice(0, TAGS_MAX);
}
