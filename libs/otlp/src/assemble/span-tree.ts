import type { ReceivedSpan } from '#contracts';

/** How the spans of a trace hang together. */
export interface SpanTree {
  /** In (started_at, span_id) order. */
  readonly spans: readonly ReceivedSpan[];
  /** The span above, where it is there. */
  readonly parentOf: ReadonlyMap<ReceivedSpan, ReceivedSpan>;
  /** Spans that name a parent which is not there, and is in the same process as far as is known. */
  readonly orphans: readonly string[];
  /** The first span that names no parent, or one in another process that is not there. */
  readonly root: ReceivedSpan | undefined;
  /** The root, else the first span that hangs from nothing: its parent was recorded elsewhere, or has not come. */
  readonly top: ReceivedSpan | undefined;
}

/** @param spans distinct, in order. Where parents go round in a circle, the first span of the circle hangs from nothing. */
export function treeOf(spans: readonly ReceivedSpan[]): SpanTree {
  const byId = new Map(spans.map((span) => [span.span_id, span]));
  const parentOf = new Map<ReceivedSpan, ReceivedSpan>();
  const orphans: string[] = [];
  for (const span of spans) {
    const parent = byId.get(span.parent_span_id ?? remoteParentOf(span) ?? '');
    if (parent !== undefined && parent !== span) parentOf.set(span, parent);
    else if (!hangsFromNothing(span)) orphans.push(span.span_id);
  }
  cutCircles(spans, parentOf);
  const root = spans.find((span) => hangsFromNothing(span) && !parentOf.has(span));
  return { spans, parentOf, orphans, root, top: root ?? spans.find((span) => !parentOf.has(span)) };
}

/** A root, also one whose parent is in another process, or most likely is: it serves a request. */
function hangsFromNothing({ parent_span_id: parent, entry }: ReceivedSpan): boolean {
  return parent === null || entry === true;
}

/** A parent in another process: that one may send its spans here too, and nothing is missing when it does not. */
function remoteParentOf({ metadata }: ReceivedSpan): string | undefined {
  const id = metadata['remote_parent'];
  return typeof id === 'string' ? id : undefined;
}

/** Every span is walked over once: `settled` ones lead to a top. */
function cutCircles(spans: readonly ReceivedSpan[], parentOf: Map<ReceivedSpan, ReceivedSpan>): void {
  const settled = new Set<ReceivedSpan>();
  for (const span of spans) {
    const path = new Set<ReceivedSpan>();
    let at: ReceivedSpan | undefined = span;
    while (at !== undefined && !settled.has(at) && !path.has(at)) {
      path.add(at);
      at = parentOf.get(at);
    }
    if (at !== undefined && path.has(at)) parentOf.delete(firstOfCircle(at, parentOf));
    for (const seen of path) settled.add(seen);
  }
}

function firstOfCircle(start: ReceivedSpan, parentOf: ReadonlyMap<ReceivedSpan, ReceivedSpan>): ReceivedSpan {
  let first = start;
  for (let at = parentOf.get(start); at !== undefined && at !== start; at = parentOf.get(at)) {
    if (at.started_at < first.started_at || (at.started_at === first.started_at && at.span_id < first.span_id)) first = at;
  }
  return first;
}

/**
 * For each span of `kind` the nearest one of the same kind above it, not looking beyond spans of `walls` (what a tool calls in
 * turn is another call). Spans without one are absent.
 */
export function enclosing(
  tree: SpanTree,
  kind: ReceivedSpan['kind'],
  walls: readonly ReceivedSpan['kind'][],
): Map<ReceivedSpan, ReceivedSpan> {
  const above = new Map<ReceivedSpan, ReceivedSpan | null>();
  const found = new Map<ReceivedSpan, ReceivedSpan>();
  for (const span of tree.spans) {
    if (span.kind !== kind) continue;
    const nearest = nearestAbove(span, tree, { kind, walls, above });
    if (nearest !== null) found.set(span, nearest);
  }
  return found;
}

interface Search {
  readonly kind: ReceivedSpan['kind'];
  readonly walls: readonly ReceivedSpan['kind'][];
  /** Known answers, so that a deep trace is walked once. */
  readonly above: Map<ReceivedSpan, ReceivedSpan | null>;
}

function nearestAbove(span: ReceivedSpan, tree: SpanTree, search: Search): ReceivedSpan | null {
  const path: ReceivedSpan[] = [];
  let at: ReceivedSpan | undefined = span;
  let answer: ReceivedSpan | null | undefined;
  while (at !== undefined && answer === undefined) {
    answer = search.above.get(at);
    if (answer !== undefined) break;
    path.push(at);
    at = tree.parentOf.get(at);
    if (at?.kind === search.kind) answer = at;
    else if (at === undefined || search.walls.includes(at.kind)) answer = null;
  }
  for (const seen of path) search.above.set(seen, answer ?? null);
  return answer ?? null;
}
