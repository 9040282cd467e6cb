/** Something a rule's text may not say. */
export interface LintPattern {
  readonly match: RegExp;
  /** What, when it stands before the match in the same sentence, makes the sentence say the opposite. */
  readonly unless?: RegExp;
}

/** A few words within one clause. Bounded, so that a pattern takes no time on long texts. */
export const NEAR = String.raw`[^.;!?]{0,40}?\b`;

/** One of these words or phrases, separated by `|`. */
export const any = (words: string): string => `(?:${words})`;

/** The parts one after another, as whole words. `_` and `-` belong to a word: `show_tool_access` is one, and grants nothing. */
export function words(...parts: readonly string[]): LintPattern {
  return { match: new RegExp(String.raw`(?<![\w-])${parts.join('')}(?!\w)`, 'gi') };
}

/** "Never bypass", "do not share or reveal"; but not "do not hesitate to bypass". */
const NEGATED =
  /(?:\b(?:never|not|cannot|avoid|without|refuse to|instead of|rather than)|n't)\s+(?:(?:ever|simply|just|blindly|silently|automatically|accidentally|try to|attempt to)\s+)?(?:\w+,? (?:or|and)\s+)?$/i;
/** "Never book without asking": the negation may stand anywhere before. */
const NEGATED_AT_ALL = /\b(?:never|not|cannot|no|avoid|refuse|nothing)\b|n't\b/i;

export function unlessNegated(...parts: readonly string[]): LintPattern {
  return { ...words(...parts), unless: NEGATED };
}

export function unlessNegatedAtAll(...parts: readonly string[]): LintPattern {
  return { ...words(...parts), unless: NEGATED_AT_ALL };
}

/** How far back a sentence is looked at. */
const SENTENCE_MAX = 400;

/** The first place where the text says it, null when it does not. */
export function firstMatch(text: string, patterns: readonly LintPattern[]): string | null {
  for (const { match, unless } of patterns) {
    for (const found of text.matchAll(match)) {
      const before = text.slice(Math.max(0, found.index - SENTENCE_MAX), found.index);
      const sentence = before.split(/[.;!?]/).at(-1) ?? '';
      if (unless === undefined || !unless.test(sentence)) return found[0];
    }
  }
  return null;
}
