import { collapseWhiteSpace, redactText } from '../text/index.js';
import { loopTalk } from './lint-loop-talk.js';
import { firstMatch, type LintPattern } from './lint-pattern.js';
import { addresses, policyOverrides, secretsInWords, toolGrants } from './lint-powers.js';

/** What a rule may not ask for or speak about. */
export const lintCodes = ['tool_grant', 'policy_override', 'credentials', 'url', 'loop_talk'] as const;
export type LintCode = (typeof lintCodes)[number];

export interface LintFinding {
  readonly code: LintCode;
  /** Why it is not taken and what to write instead; for the one who proposed it. */
  readonly reason: string;
  /** The words that were found. */
  readonly found: string;
}

const PATTERNS: Readonly<Record<LintCode, readonly LintPattern[]>> = {
  tool_grant: toolGrants,
  policy_override: policyOverrides,
  credentials: secretsInWords,
  url: addresses,
  loop_talk: loopTalk,
};

const REASONS: Readonly<Record<LintCode, string>> = {
  tool_grant: 'it gives the agent tools or rights; say how to do the work with what it has',
  policy_override: 'it sets instructions, policies or safeguards aside; say how to work within them',
  credentials: 'it holds a secret or tells to hand one over; leave secrets out',
  url: 'it names an address to go to; name the step or the tool instead',
  loop_talk: 'it speaks of how the work is measured; speak of the work itself',
};

/**
 * What is wrong with a rule's sanitised text, the first finding of each kind; nothing is the usual answer. It is a fence of words
 * against the plain forms in English, not a proof: what a rule can reach is bounded by the agent's own tools. Letters are read
 * as what they look like (full-width, accented), and what is invisible is not there.
 */
export function lintRule(text: string): LintFinding[] {
  const plain = collapseWhiteSpace(
    text
      .normalize('NFKD')
      .replace(/[\p{M}\p{Cf}]/gu, '')
      .replace(/[‘’]/g, "'"),
  );
  const findings: LintFinding[] = [];
  for (const code of lintCodes) {
    const found = firstMatch(plain, PATTERNS[code]) ?? (code === 'credentials' ? embeddedSecret(plain) : null);
    if (found !== null) findings.push({ code, reason: REASONS[code], found });
  }
  return findings;
}

/** The secret itself is not repeated. */
function embeddedSecret(text: string): string | null {
  return redactText(text) === text ? null : 'a secret';
}
