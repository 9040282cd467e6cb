import { caseFold, cleanTags, collapseWhiteSpace, tokenSet } from '../text/index.js';
import type { RuleCore } from './rule.js';
import { normalizeScope } from './scope.js';

/** How a rule may already say what a proposal says, the strongest first. */
export const noveltyChecks = [
  'exact_text',
  'near_duplicate_text',
  'covered_failure_signature',
  'covered_tags',
  'semantic_duplicate',
] as const;
export type NoveltyCheck = (typeof noveltyChecks)[number];

/** A proposed rule, as far as it is compared. */
export interface Proposal {
  readonly rule: string;
  readonly scope: string;
  readonly tags: readonly string[];
  readonly failure_signatures: readonly string[];
}

/** A stored rule that proposals are compared with. */
export interface ComparedRule extends RuleCore, Proposal {}

/** What is compared of a rule or proposal, made once. */
export interface Traits {
  readonly text: string;
  readonly scope: string;
  readonly tokens: ReadonlySet<string>;
  /** Tags that say what it is about. */
  readonly subjects: ReadonlySet<string>;
  readonly signatures: ReadonlySet<string>;
}

export interface Overlap {
  readonly shared: number;
  /** Shared tokens over all tokens of both, 0 for two texts without tokens. */
  readonly jaccard: number;
  /** Shared tokens over those of the shorter text, 0 when it has none. */
  readonly containment: number;
}

/** Words that many rules carry whatever they are about: states, metrics, scopes, severities (the list of the golden files). */
const GENERIC_TAGS: ReadonlySet<string> = new Set(
  'active argument_correctness breach candidate coherence global provisional scoped task_completion tool_correctness trend'.split(
    ' ',
  ),
);

/** Thresholds of the seed system, which its recorded answers hold us to: jaccard, or containment, at or above. */
const NEAR = { jaccard: 0.72, containment: 0.88 };
const SAME_FAILURE = { jaccard: 0.3, containment: 0.55 };
const SAME_SUBJECT = { jaccard: 0.4, containment: 0.65 };
const SUBJECTS_SHARED = 2;

/**
 * Below this containment no check can hold. The lowest are a containment of 0.55 and a jaccard of 0.30, and a jaccard of j is at
 * least a containment of 2j / (1 + j); rounded down, so that it never decides.
 */
export const LEAST_CONTAINMENT = 0.46;

export function traitsOf({ rule, scope, tags, failure_signatures }: Proposal): Traits {
  return {
    text: normalRuleText(rule),
    scope: normalizeScope(scope),
    tokens: tokenSet(rule),
    subjects: new Set(cleanTags(tags).filter((tag) => !tag.includes(':') && !GENERIC_TAGS.has(tag))),
    signatures: new Set(failure_signatures),
  };
}

/** A rule's text as it is compared for equality: case-folded, white space collapsed, without `.!;,` at the end. */
export function normalRuleText(rule: string): string {
  const text = collapseWhiteSpace(caseFold(rule));
  let end = text.length;
  while (end > 0 && '.!;,'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

export function overlapOf(shared: number, sizeA: number, sizeB: number): Overlap {
  const all = sizeA + sizeB - shared;
  const smaller = Math.min(sizeA, sizeB);
  return { shared, jaccard: all === 0 ? 0 : shared / all, containment: smaller === 0 ? 0 : shared / smaller };
}

/**
 * How one of two texts of the same scope covers the other, by words and by what both are about; null when it does not.
 * Symmetric. Equal texts are `exact_text`, whatever their scopes: that is looked at before.
 * @param shared how many tokens both have
 */
export function coverOf(a: Traits, b: Traits, shared: number): NoveltyCheck | null {
  const overlap = overlapOf(shared, a.tokens.size, b.tokens.size);
  if (reaches(overlap, NEAR)) return 'near_duplicate_text';
  if (reaches(overlap, SAME_FAILURE) && shares(a.signatures, b.signatures, 1)) return 'covered_failure_signature';
  if (reaches(overlap, SAME_SUBJECT) && shares(a.subjects, b.subjects, SUBJECTS_SHARED)) return 'covered_tags';
  return null;
}

type Threshold = Pick<Overlap, 'jaccard' | 'containment'>;

function reaches({ jaccard, containment }: Overlap, threshold: Threshold): boolean {
  return jaccard >= threshold.jaccard || containment >= threshold.containment;
}

function shares(a: ReadonlySet<string>, b: ReadonlySet<string>, enough: number): boolean {
  let found = 0;
  for (const one of a) {
    if (b.has(one)) found += 1;
    if (found >= enough) return true;
  }
  return false;
}
