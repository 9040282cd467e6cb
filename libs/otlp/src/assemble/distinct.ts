import type { ReceivedSpan } from '#contracts';
import { stringifyJson } from '#ingest';

/**
 * Each span once, in (started_at, span_id) order. Of two versions of one span the one that ended, and ended later, counts; of two
 * that ended together the one that failed; then the greater text, so that the order of arrival never matters.
 */
export function distinctSpans(spans: readonly ReceivedSpan[]): ReceivedSpan[] {
  const byId = new Map<string, ReceivedSpan>();
  for (const span of spans) {
    const known = byId.get(span.span_id);
    if (known === undefined || isBetter(span, known)) byId.set(span.span_id, span);
  }
  return [...byId.values()].sort(byStart);
}

/** Ids are compared by code unit: the same order on every machine. */
export function byStart(a: { started_at: number; span_id: string }, b: { started_at: number; span_id: string }): number {
  return a.started_at - b.started_at || (a.span_id < b.span_id ? -1 : a.span_id > b.span_id ? 1 : 0);
}

function isBetter(span: ReceivedSpan, known: ReceivedSpan): boolean {
  if (span === known) return false;
  const ends = (span.ended_at ?? -1) - (known.ended_at ?? -1);
  if (ends !== 0) return ends > 0;
  const failures = Number(span.status === 'ERROR') - Number(known.status === 'ERROR');
  return failures === 0 ? stringifyJson(span) > stringifyJson(known) : failures > 0;
}
