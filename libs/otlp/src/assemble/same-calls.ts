import type { ReceivedSpan } from '#contracts';
import { listIn } from './list-in.js';
import { enclosing, type SpanTree } from './span-tree.js';

/** What is known about spans that are not calls of their own. */
export interface SameCalls {
  /** Of spans that saw a call which another span tells most about: that span. */
  readonly keeperOf: ReadonlyMap<ReceivedSpan, ReceivedSpan>;
  /** Model spans around several model calls: they stand for none. */
  readonly wrappers: ReadonlySet<ReceivedSpan>;
}

/**
 * Calls that two instrumentations saw: one span inside the other and alone in it (tools: of the same name or call id), or two at
 * the same time with the same response id or call id. Not at the same time, it is a second try, or an answer out of a cache. The
 * span that says most stays the call.
 */
export function sameCalls(tree: SpanTree): SameCalls {
  const keeperOf = new Map<ReceivedSpan, ReceivedSpan>();
  const wrappers = new Set<ReceivedSpan>();
  const join = (a: ReceivedSpan, b: ReceivedSpan): void => joinInto(keeperOf, a, b);
  for (const [outer, inner] of grouped(enclosing(tree, 'LLM', ['TOOL', 'AGENT']))) {
    const [only] = inner;
    if (only === undefined || inner.length > 1) wrappers.add(outer);
    else if (!differ(responseOf(outer), responseOf(only))) join(outer, only);
  }
  for (const [outer, inner] of grouped(enclosing(tree, 'TOOL', ['LLM', 'AGENT']))) {
    const [only] = inner;
    if (only !== undefined && inner.length === 1 && isSameTool(outer, only)) join(outer, only);
  }
  const spans = tree.spans.filter((span) => !wrappers.has(span));
  for (const twins of byText(spans, 'LLM', responseOf)) joinOverlapping(twins, join);
  for (const twins of byText(spans, 'TOOL', callIdOf)) joinOverlapping(twins, join);
  for (const span of [...keeperOf.keys()]) keeper(keeperOf, span);
  return { keeperOf, wrappers };
}

function grouped(enclosed: ReadonlyMap<ReceivedSpan, ReceivedSpan>): Map<ReceivedSpan, ReceivedSpan[]> {
  const groups = new Map<ReceivedSpan, ReceivedSpan[]>();
  for (const [inner, outer] of enclosed) listIn(groups, outer).push(inner);
  return groups;
}

function byText(
  spans: readonly ReceivedSpan[],
  kind: 'LLM' | 'TOOL',
  textOf: (span: ReceivedSpan) => string | undefined,
): ReceivedSpan[][] {
  const groups = new Map<string, ReceivedSpan[]>();
  for (const span of spans) {
    const text = span.kind === kind ? textOf(span) : undefined;
    if (text !== undefined) listIn(groups, text).push(span);
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

/** Neighbours in time are compared: twins began together. */
function joinOverlapping(spans: readonly ReceivedSpan[], join: (a: ReceivedSpan, b: ReceivedSpan) => void): void {
  for (const [at, span] of spans.entries()) {
    const before = spans[at - 1];
    if (before !== undefined && overlap(before, span)) join(before, span);
  }
}

/** The one that says more stays; of equals the later one, which is nearer to the provider. */
function joinInto(keeperOf: Map<ReceivedSpan, ReceivedSpan>, a: ReceivedSpan, b: ReceivedSpan): void {
  const first = keeper(keeperOf, a);
  const second = keeper(keeperOf, b);
  if (first === second) return;
  const firstStays = weight(first) > weight(second);
  keeperOf.set(firstStays ? second : first, firstStays ? first : second);
}

/** Who stands for a span in the end. Shortens the way for the next who asks: many spans of one call stay cheap. */
function keeper(keeperOf: Map<ReceivedSpan, ReceivedSpan>, span: ReceivedSpan): ReceivedSpan {
  let last = span;
  for (let next = keeperOf.get(last); next !== undefined; next = keeperOf.get(last)) last = next;
  for (let at = span; at !== last;) {
    const next = keeperOf.get(at) ?? last;
    keeperOf.set(at, last);
    at = next;
  }
  return last;
}

function weight(span: ReceivedSpan): number {
  return (
    (span.output === undefined ? 0 : 4) +
    (span.input === undefined ? 0 : 4) +
    (span.tools.length > 0 ? 2 : 0) +
    (span.token_usage === undefined ? 0 : 1)
  );
}

function isSameTool(a: ReceivedSpan, b: ReceivedSpan): boolean {
  const ids = [callIdOf(a), callIdOf(b)] as const;
  return ids[0] !== undefined && ids[1] !== undefined ? ids[0] === ids[1] : a.name === b.name;
}

function overlap(a: ReceivedSpan, b: ReceivedSpan): boolean {
  return b.started_at < (a.ended_at ?? Number.MAX_SAFE_INTEGER) || b.started_at === a.started_at;
}

function differ(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b;
}

function responseOf(span: ReceivedSpan): string | undefined {
  return textOf(span.metadata['response_id']);
}

export function callIdOf(span: ReceivedSpan): string | undefined {
  return textOf(span.metadata['tool_call_id']);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
