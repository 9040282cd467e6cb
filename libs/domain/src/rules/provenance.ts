import type { Notice, TraceSignal } from '#contracts';
import { cleanTags, snippet, TAGS_MAX } from '../text/index.js';

/** The part of an episode's notices that a rule is marked with. */
export interface NoticeMarks {
  readonly signatures: readonly string[];
  readonly metrics: readonly Pick<Notice['metrics'][number], 'metric'>[];
  readonly severity: Notice['severity'];
  /** What its flagged traces show: the tools that failed. */
  readonly signals: readonly Pick<TraceSignal, 'failing_tools'>[];
}

/** A rule's tags: those that were proposed, then each notice's signatures, metrics, failing tools and severity; the first 16. */
export function ruleTags(proposed: readonly string[], notices: readonly NoticeMarks[]): string[] {
  const derived = notices.flatMap(({ signatures, metrics, signals, severity }) => [
    ...signatures,
    ...metrics.map(({ metric }) => metric),
    ...signals.flatMap((signal) => signal.failing_tools),
    severity,
  ]);
  return cleanTags([...proposed, ...derived]);
}

/** The signatures of an episode's notices, each once, 16 at most. */
export function failureSignatures(notices: readonly Pick<NoticeMarks, 'signatures'>[]): string[] {
  return [...new Set(notices.flatMap(({ signatures }) => signatures))].slice(0, TAGS_MAX);
}

export type MetricCheck =
  { readonly accepted: true; readonly metric: string | null } | { readonly accepted: false; readonly error: string };

/**
 * A rule's metric is one known name or absent. Anything else goes back to who proposed it: a metric that matches nothing would
 * read as "never breached" and turn the verdict of a trial round.
 */
export function checkRuleMetric(metric: string | null | undefined, known: readonly string[]): MetricCheck {
  const name = metric?.trim() ?? '';
  if (name === '') return { accepted: true, metric: null };
  if (known.includes(name)) return { accepted: true, metric: name };
  return { accepted: false, error: `unknown metric "${snippet(name, 80)}": name one of ${known.join(', ')}, or leave it out` };
}
