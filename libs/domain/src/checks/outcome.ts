import type { Score, Trace, Turn } from '#contracts';

/** Version of the formulas in docs/checks.md. It is part of a score's key, so any change of a value needs a new one. */
export const EVALUATOR = 'check/1';

/** What a check may look at: the turn, and the answers of the session's up to 3 previous turns, newest first. */
export interface CheckContext {
  readonly turn: Turn;
  readonly earlierAnswers: readonly string[];
}

/** A value in [0, 1], or that there was nothing to judge. Missing evidence is neither a perfect score nor a breach. */
export type Outcome =
  | {
      readonly status: 'scored';
      readonly value: number;
      readonly code: string;
      readonly reason: string;
      readonly spans: readonly string[];
    }
  | { readonly status: 'not_applicable'; readonly code: string; readonly reason: string };

export type Check = (trace: Trace, context: CheckContext) => Outcome;

/** One thing that lowered a value, and the span to look at. */
export interface Fault {
  readonly spanId: string;
  readonly label: string;
  readonly why: string;
  readonly code: string;
}

const REASON_MAX = 299;
const LABEL_MAX = 40;
const FAULTS_NAMED = 3;
/** The list of a score is for people and for the trace view; a thousand-span trace must not make a thousand-id event. */
const SPANS_MAX = 50;

export function scored(value: number, code: string, reason: string, spans: readonly string[] = []): Outcome {
  return {
    status: 'scored',
    value: clamp(value),
    code,
    reason: cut(reason, REASON_MAX),
    spans: [...new Set(spans)].slice(0, SPANS_MAX),
  };
}

export function notApplicable(code: string, reason: string): Outcome {
  return { status: 'not_applicable', code, reason: cut(reason, REASON_MAX) };
}

/** `"book" (span a1) failed; "pay" (span a2) failed; and 4 more`. */
export function describe(faults: readonly Fault[]): string {
  const named = faults.slice(0, FAULTS_NAMED).map((fault) => `${quote(fault.label)} (span ${plain(fault.spanId)}) ${fault.why}`);
  const rest = faults.length - named.length;
  return rest > 0 ? `${named.join('; ')}; and ${rest} more` : named.join('; ');
}

export function quote(text: string): string {
  return `"${plain(text)}"`;
}

/** A name from outside made fit for a sentence: one line, no control characters, bounded. */
export function plain(text: string, max: number = LABEL_MAX): string {
  return cut(
    text
      .slice(0, max * 4)
      .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
      .trim(),
    max,
  );
}

/** At most `max` UTF-16 units, never half a surrogate pair. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  return text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/u, '') + '…';
}

export function toScore(metric: string, traceId: string, outcome: Outcome): Score {
  const common = { metric, trace_id: traceId, source: metric === 'coherence' ? 'lexical' : 'check', evaluator: EVALUATOR };
  if (outcome.status === 'scored') {
    return {
      ...common,
      status: 'scored',
      value: outcome.value,
      reason: outcome.reason,
      code: outcome.code,
      spans: [...outcome.spans],
    };
  }
  return { ...common, status: 'not_applicable', value: null, reason: outcome.reason, code: outcome.code, spans: [] };
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}
