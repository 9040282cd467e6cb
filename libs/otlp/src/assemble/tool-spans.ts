import type { ReceivedSpan, Span } from '#contracts';
import { isRecord } from '../json-value.js';
import { listIn } from './list-in.js';
import { askedCalls, shownResults, type AskedCall, type ToolResult } from './model-calls.js';
import { callIdOf } from './same-calls.js';

export interface Addition {
  readonly added: Partial<Span>;
  readonly marks: Readonly<Record<string, unknown>>;
}

export interface ToolSpans {
  /** What the models' messages add to recorded tool spans. */
  readonly completed: ReadonlyMap<ReceivedSpan, Addition>;
  /** Calls that nobody recorded a span of, each beside the model call that asked for it. */
  readonly derived: readonly { readonly span: Span; readonly by: ReceivedSpan }[];
}

/**
 * Joins the tool calls in models' messages with the tool spans of the trace: by call id, else by name in order. A span gets from
 * the messages what it does not say itself. A call without a span becomes one, when its result was shown to a model, or when the trace
 * has no tool spans at all; otherwise it was not run. Both are marked `derived` in metadata.
 * @param calls the model calls of the trace, in order
 * @param tools its tool spans, in order
 */
export function toolSpans(calls: readonly ReceivedSpan[], tools: readonly ReceivedSpan[]): ToolSpans {
  const asked = askedCalls(calls);
  const results = shownResults(calls);
  const spanOf = matched(asked, tools);
  const completed = new Map<ReceivedSpan, Addition>();
  const derived: { span: Span; by: ReceivedSpan }[] = [];
  for (const call of asked) {
    const result = call.id === '' ? undefined : results.get(call.id);
    const span = spanOf.get(call);
    if (span !== undefined) completed.set(span, additions(span, call, result));
    else if (result !== undefined || tools.length === 0) derived.push({ span: derivedSpan(call, result), by: call.by });
  }
  return { completed, derived };
}

function matched(asked: readonly AskedCall[], tools: readonly ReceivedSpan[]): Map<AskedCall, ReceivedSpan> {
  const matches = new Map<AskedCall, ReceivedSpan>();
  // A second try of a call is a span of its own, with the same id; the first one is matched.
  const byId = new Map([...tools].reverse().map((span) => [callIdOf(span), span]));
  const taken = new Set<ReceivedSpan>();
  for (const call of asked) {
    const span = call.id === '' ? undefined : byId.get(call.id);
    if (span === undefined) continue;
    matches.set(call, span);
    taken.add(span);
  }
  const byName = new Map<string, ReceivedSpan[]>();
  for (const span of tools.filter((one) => callIdOf(one) === undefined && !taken.has(one))) listIn(byName, span.name).push(span);
  for (const queue of byName.values()) queue.reverse();
  for (const call of asked) {
    const span = matches.has(call) ? undefined : byName.get(call.name)?.pop();
    if (span !== undefined) matches.set(call, span);
  }
  return matches;
}

/** `added` are fields that the span does not say, or says wrong; `marks` belong into its metadata. */
function additions(span: ReceivedSpan, call: AskedCall, result: ToolResult | undefined): Addition {
  const added: Partial<Span> = {
    // A class of a framework (`DynamicStructuredTool`) is no name that the model knows.
    ...(span.name === call.name ? {} : { name: call.name }),
    ...(isEmpty(span.input) && !isEmpty(call.arguments) ? { input: call.arguments } : {}),
    ...(result === undefined ? {} : outcome(span, result)),
  };
  const marks = {
    ...(Object.keys(added).length === 0 ? {} : { derived: Object.keys(added) }),
    ...(added.name === undefined ? {} : { span_name: span.name }),
    ...(call.id === '' ? {} : { tool_call_id: call.id }),
  };
  return { added, marks };
}

function outcome(span: ReceivedSpan, { content, failed }: ToolResult): Partial<Span> {
  const isNews = failed && span.error === undefined && span.status !== 'ERROR';
  return { ...(isEmpty(span.output) ? { output: content } : {}), ...(isNews ? { status: 'ERROR', error: content } : {}) };
}

/** `{}` too: some libraries record no arguments so. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === '{}') return true;
  return isRecord(value) && Object.keys(value).length === 0;
}

function derivedSpan({ id, name, arguments: input, by, n }: AskedCall, result: ToolResult | undefined): Span {
  const started = by.ended_at ?? by.started_at;
  return {
    span_id: `${by.span_id}/call/${n}`,
    name,
    kind: 'TOOL',
    status: result === undefined ? 'UNSET' : result.failed ? 'ERROR' : 'OK',
    ...(input === undefined ? {} : { input }),
    ...(result === undefined ? {} : { output: result.content, ended_at: Math.max(started, result.shownAt) }),
    ...(result?.failed === true ? { error: result.content } : {}),
    started_at: started,
    metadata: { derived: true, ...(id === '' ? {} : { tool_call_id: id }) },
  };
}
