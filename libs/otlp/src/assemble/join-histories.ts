import { createHash } from 'node:crypto';
import type { ReceivedSpan } from '#contracts';
import type { Message } from '../messages.js';
import { byStart } from './distinct.js';
import { listIn } from './list-in.js';
import { messagesOf } from './model-calls.js';

/** The spans of one turn, and the turns of one conversation in their order. */
export type JoinedTurn = readonly ReceivedSpan[];
export type JoinedConversation = readonly JoinedTurn[];

interface Conversation {
  readonly turns: ReceivedSpan[][];
  /** When its last request was made. */
  askedAt: number;
}

/**
 * Conversations among traces that name no session, told by what their models were shown: a request that begins with an earlier request
 * and its answer, word for word, goes on with it. With a user message in what is new it begins a turn, else it belongs to the turn.
 * For libraries that give every span a trace of its own. A tool's span
 * joins by its result: the words that the next request shows, run between the two requests. Of two conversations that are equal so far the later one is gone on with.
 * What nothing joins to another trace is left out.
 * @param traces spans by trace; those without exactly one model call, or one tool call only, are left out
 */
export function joinHistories(traces: Iterable<readonly ReceivedSpan[]>): JoinedConversation[] {
  const all = [...traces];
  const results = new LooseResults(all);
  const open = new Map<string, Conversation[]>();
  const conversations: Conversation[] = [];
  for (const { spans, askedAt, asked, answered } of inOrder(all)) {
    const prefixes = digests(asked);
    const at = prefixes.findLastIndex((prefix) => (open.get(prefix) ?? []).length > 0);
    const known = at < 0 ? undefined : open.get(prefixes[at] ?? '')?.pop();
    const conversation = known ?? { turns: [], askedAt };
    if (known === undefined) conversations.push(conversation);
    else conversation.turns.at(-1)?.push(...results.take(asked.slice(at + 1), known.askedAt, askedAt));
    const isNewTurn = known === undefined || asked.slice(at + 1).some(({ role }) => role === 'user');
    if (isNewTurn) conversation.turns.push([...spans]);
    else conversation.turns.at(-1)?.push(...spans);
    conversation.askedAt = askedAt;
    listIn(open, digests([...asked, ...answered]).at(-1) ?? '').push(conversation);
  }
  return conversations.map(({ turns }) => turns).filter((turns) => turns.length > 1 || countTraces(turns) > 1);
}

/** Tool spans that are traces of their own, by their result. */
class LooseResults {
  private readonly byResult = new Map<string, ReceivedSpan[]>();

  constructor(traces: readonly (readonly ReceivedSpan[])[]) {
    const alone = traces.flatMap((spans) => (spans.length === 1 ? spans : [])).sort(byStart);
    for (const span of alone)
      if (span.kind === 'TOOL' && typeof span.output === 'string') listIn(this.byResult, span.output).push(span);
  }

  /** The spans of the tools whose results are among `messages` and that began in [from, to]; each is given once. */
  take(messages: readonly Message[], from: number, to: number): ReceivedSpan[] {
    return messages.flatMap(({ role, content }) => {
      const spans = role === 'tool' ? (this.byResult.get(content) ?? []) : [];
      const at = spans.findIndex(({ started_at: start }) => start >= from && start <= to);
      return at < 0 ? [] : spans.splice(at, 1);
    });
  }
}

interface Exchange {
  readonly spans: readonly ReceivedSpan[];
  readonly askedAt: number;
  readonly asked: readonly Message[];
  readonly answered: readonly Message[];
}

function inOrder(traces: Iterable<readonly ReceivedSpan[]>): Exchange[] {
  const exchanges: (Exchange & { readonly first: ReceivedSpan })[] = [];
  for (const spans of traces) {
    const calls = spans.filter(({ kind, input }) => kind === 'LLM' && messagesOf(input).length > 0).sort(byStart);
    const [first] = calls;
    // A trace of several model calls is a step of its own already.
    if (first === undefined || calls.length > 1) continue;
    exchanges.push({
      spans,
      first,
      askedAt: first.started_at,
      asked: messagesOf(first.input),
      answered: messagesOf(first.output),
    });
  }
  return exchanges.sort((a, b) => byStart(a.first, b.first));
}

/** Of each beginning of a list of messages: one digest per message, each of all before it too. Time and memory are linear. */
function digests(messages: readonly Message[]): string[] {
  let before = '';
  return messages.map(({ role, content, tool_calls: calls = [], tool_call_id: id = '' }) => {
    // Arguments are written in one way in an answer and in another in the history: the call's id and name stand for them.
    const said = JSON.stringify([before, role, content, id, calls.map((call) => [call.id, call.name])]);
    before = createHash('sha256').update(said).digest('base64');
    return before;
  });
}

function countTraces(turns: readonly (readonly ReceivedSpan[])[]): number {
  return new Set(turns.flat().map(({ trace_id: id }) => id)).size;
}
