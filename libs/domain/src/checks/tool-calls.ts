import type { Span, Trace } from '#contracts';

/** One TOOL span: what was called, with what, and whether it failed. */
export interface ToolCall {
  readonly spanId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly failed: boolean;
  /** False when nothing tells how the call went: no status, no output, no error, no end. */
  readonly outcomeKnown: boolean;
  /** It was recorded as a success, with an answer that reads like a failure: nobody knows which. */
  readonly doubtful: boolean;
}

/** The tool calls of a trace in the order they started, as `toolSpans` tells them. */
export function toolCalls(trace: Trace): ToolCall[] {
  return toolSpans(trace).map(toCall);
}

/**
 * The spans of the tool calls of a trace in the order they started. A span delivered twice is one call, and of two versions the one
 * that says more counts (a failure, then a known outcome). Without a start time on every call the recorded order stands.
 */
export function toolSpans(trace: Trace): Span[] {
  const spans = distinct(trace.spans.filter((span) => span.kind === 'TOOL'));
  const timed = spans.every((span) => span.started_at !== undefined);
  return timed ? [...spans].sort((a, b) => (a.started_at ?? 0) - (b.started_at ?? 0)) : spans;
}

/** A span failed when its status says so or an error is set. What its output text says is not judged here. */
export function hasFailed(span: Span): boolean {
  return span.status === 'ERROR' || isSet(span.error);
}

function distinct(spans: readonly Span[]): Span[] {
  const byId = new Map<string, Span>();
  for (const span of spans) {
    const known = byId.get(span.span_id);
    if (known === undefined || weight(span) > weight(known)) byId.set(span.span_id, span);
  }
  return [...byId.values()];
}

function weight(span: Span): number {
  if (hasFailed(span)) return 2;
  return isOutcomeKnown(span) ? 1 : 0;
}

function toCall(span: Span): ToolCall {
  return {
    spanId: span.span_id,
    tool: span.name,
    input: span.input,
    failed: hasFailed(span),
    outcomeKnown: isOutcomeKnown(span),
    doubtful: !hasFailed(span) && span.metadata?.['outcome_unknown'] === true,
  };
}

/** Whether anything tells how a call went. */
export function isOutcomeKnown(span: Span): boolean {
  return span.status !== 'UNSET' || isSet(span.error) || isSet(span.output) || span.ended_at !== undefined;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false;
}
