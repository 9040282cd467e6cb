import { snippet } from '#domain/text';
import type { Judgement } from '../judgement.js';
import { planPrompt } from '../prompts/plan.js';
import { tidy } from '../reason.js';

export interface PlanStep {
  readonly step: string;
  readonly quote: string;
}

/** Shorter quotes, white space apart, occur by chance; four characters can be a sentence in Chinese. */
const QUOTE_MIN = 4;
const STEPS_MAX = 40;
const STEP_MAX = 400;

/**
 * The plan that the trace states, in order; empty when it states none. A step counts only when its quote stands in the
 * trace, whatever the white space: models like to infer a plan from what was done, and adherence to that is circular.
 */
export function explicitPlan(judgement: Judgement): Promise<PlanStep[]> {
  return judgement.shared(planPrompt, async () => {
    let evidence = '';
    const { steps } = await judgement.ask(planPrompt, () => {
      const shown = judgement.digest();
      evidence = shown.evidence;
      return [{ name: 'trace', text: shown.text }];
    });
    return quoted(steps, evidence).map(({ step, quote }) => ({ step: line(step), quote: line(quote) }));
  });
}

/** The plan as numbered lines, as the judges of plans see it. */
export function planText(plan: readonly PlanStep[]): string {
  return plan.map(({ step, quote }, at) => `${at + 1}. ${step}\n   in the record: "${quote}"`).join('\n');
}

/** On one line, so that no step can pass for two. */
function line(words: string): string {
  return snippet(tidy(words), STEP_MAX);
}

function quoted(steps: readonly PlanStep[], evidence: string): PlanStep[] {
  const text = squeezed(evidence);
  const quotes = new Set<string>();
  const kept = steps.filter(({ quote }) => {
    const squeezedQuote = squeezed(quote);
    if (squeezedQuote.length < QUOTE_MIN || quotes.has(squeezedQuote) || !text.includes(squeezedQuote)) return false;
    quotes.add(squeezedQuote);
    return true;
  });
  return kept.slice(0, STEPS_MAX);
}

/** Without white space and the escapes that stand for it in JSON, so that a quote may be wrapped otherwise. */
function squeezed(text: string): string {
  return text
    .replace(/\\[nrt]/g, '')
    .replace(/\\"/g, '"')
    .replace(/\s+/g, '');
}
