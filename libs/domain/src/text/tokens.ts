import { caseFold } from './case-fold.js';

/** Words that say nothing about what a rule is about; left out when texts are compared (the list of the golden files). */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  'a an and as at be before by for from if in into is it of on only or the then to use when with task tasks workflow'.split(' '),
);

const NO_WORDS: ReadonlySet<string> = new Set();

/** The distinct tokens of a text: case-folded runs of `a-z 0-9 _`, two characters or more, without `stopWords`. */
export function tokenSet(text: string, stopWords: ReadonlySet<string> = STOP_WORDS): Set<string> {
  const found = new Set<string>();
  for (const [token] of caseFold(text).matchAll(/[a-z0-9_]{2,}/g)) {
    if (!stopWords.has(token)) found.add(token);
  }
  return found;
}

/** The distinct tokens of a text, sorted, stop words kept: what search looks at. */
export function tokens(text: string): string[] {
  return [...tokenSet(text, NO_WORDS)].sort();
}
