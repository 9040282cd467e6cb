import type { ReceivedSpan, Span, Tool, Trace } from '#contracts';
import type { Agent } from '../dialect.js';
import type { SessionName } from '../session.js';
import { byStart, distinctSpans } from './distinct.js';
import { withDoubt } from './doubtful-outcome.js';
import { endsOf } from './ends.js';
import { listIn } from './list-in.js';
import { sameCalls, type SameCalls } from './same-calls.js';
import { treeOf, type SpanTree } from './span-tree.js';
import { toolSpans, type Addition } from './tool-spans.js';

export interface AssembledTrace {
  /** Spans in (started_at, span_id) order; a span whose parent is not there hangs from nothing. */
  readonly trace: Trace;
  /** What the models could have called: all catalogues of the trace, the first of a name. */
  readonly tools: Tool[];
  readonly session: SessionName | null;
  readonly agent: Agent | null;
  /** Of the first model call that says it. */
  readonly model: string | null;
  /** Whether a span without a parent is there and has ended. */
  readonly rootEnded: boolean;
  /** Ids of the spans that name a parent which is not there (yet). */
  readonly orphans: string[];
}

/**
 * The trace that spans of one trace id make. Neither their order nor their repetition matters. Calls that two instrumentations saw are
 * one; tool calls that only models' messages show become spans (see tool-spans.ts).
 * @throws RangeError without any span
 */
export function assembleTrace(spans: readonly ReceivedSpan[]): AssembledTrace {
  const tree = treeOf(distinctSpans(spans));
  const [first] = tree.spans;
  if (first === undefined) throw new RangeError('A trace has at least one span.');
  const same = sameCalls(tree);
  const own = tree.spans.filter((span) => !same.keeperOf.has(span) && !same.wrappers.has(span));
  const calls = own.filter((span) => span.kind === 'LLM');
  const { completed, derived } = toolSpans(
    calls,
    own.filter((span) => span.kind === 'TOOL'),
  );
  const witnesses = witnessesOf(same);
  const written = tree.spans.map((span) =>
    withAddition(withWitnesses(plainSpan(span, tree, same), witnesses.get(span) ?? []), completed.get(span)),
  );
  const beside = derived.map(({ span, by }) => ({ ...span, parent_span_id: tree.parentOf.get(by)?.span_id ?? null }));
  const { root, top } = tree;
  return {
    trace: {
      trace_id: first.trace_id,
      ...(top === undefined ? {} : { name: top.name, status: top.status }),
      // The root's: a child's clock, on another machine, must not decide the order of turns.
      started_at: (root ?? first).started_at,
      ...endOf(tree),
      ...said(endsOf(tree, calls)),
      spans: [...written, ...beside].map(withDoubt).sort((a, b) => byStart(timed(a), timed(b))),
    },
    tools: catalogue(tree),
    session: sessionOf(tree),
    agent: root?.agent ?? tree.spans.find(({ agent }) => agent !== null)?.agent ?? null,
    model: calls.find(({ model }) => model !== null)?.model ?? null,
    rootEnded: root !== undefined && root.ended_at !== null,
    orphans: [...tree.orphans],
  };
}

function withAddition(span: Span, addition: Addition | undefined): Span {
  if (addition === undefined) return span;
  return { ...span, ...addition.added, metadata: { ...span.metadata, ...addition.marks } };
}

/** For each call the other spans that saw it. */
function witnessesOf({ keeperOf }: SameCalls): Map<ReceivedSpan, ReceivedSpan[]> {
  const witnesses = new Map<ReceivedSpan, ReceivedSpan[]>();
  for (const [span, call] of keeperOf) listIn(witnesses, call).push(span);
  return witnesses;
}

const SHARED = ['input', 'output', 'model', 'token_usage', 'error'] as const;

/** What the span does not say and another one that saw the same call does. */
function withWitnesses(span: Span, witnesses: readonly ReceivedSpan[]): Span {
  const filled = { ...span };
  for (const witness of witnesses) for (const field of SHARED) filled[field] ??= witness[field] as never;
  return witnesses.length === 0 ? span : filled;
}

/** The root's end; without a root the last one known. */
function endOf({ spans, root }: SpanTree): { ended_at?: number } {
  const ends = (root === undefined ? spans : [root]).flatMap(({ ended_at }) => ended_at ?? []);
  return ends.length === 0 ? {} : { ended_at: ends.reduce((a, b) => Math.max(a, b)) };
}

function said(members: { readonly input: unknown; readonly output: unknown }): { input?: unknown; output?: unknown } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function timed(span: Span): { started_at: number; span_id: string } {
  return { started_at: span.started_at ?? 0, span_id: span.span_id };
}

/** Without what holds for the whole trace; a span that is no call of its own says so and counts as a step around one. */
function plainSpan(span: ReceivedSpan, tree: SpanTree, { keeperOf, wrappers }: SameCalls): Span {
  const { trace_id: _trace, dialect, session: _session, agent: _agent, tools: _tools, entry, ended_at, ...rest } = span;
  const call = keeperOf.get(span);
  const isCall = call === undefined && !wrappers.has(span);
  const parent = tree.parentOf.get(span)?.span_id ?? null;
  return {
    ...rest,
    kind: isCall ? span.kind : 'CHAIN',
    parent_span_id: parent,
    ...(ended_at === null ? {} : { ended_at }),
    metadata: {
      ...span.metadata,
      dialect,
      ...(call === undefined ? {} : { same_call_as: call.span_id }),
      ...(parent === span.parent_span_id || span.parent_span_id === null
        ? {}
        : { [entry === true ? 'remote_parent' : 'missing_parent']: span.parent_span_id }),
    },
  };
}

function catalogue({ spans }: SpanTree): Tool[] {
  const tools = new Map<string, Tool>();
  for (const span of spans) for (const tool of span.tools) if (!tools.has(tool.name)) tools.set(tool.name, tool);
  return [...tools.values()];
}

/** Explicit beats inherited, on whichever span; then the root's; then the first span that says one. */
function sessionOf({ spans, root }: SpanTree): SessionName | null {
  const named = [...(root === undefined ? [] : [root]), ...spans].flatMap(({ session }) => session ?? []);
  return named.find(({ explicit }) => explicit) ?? named[0] ?? null;
}
