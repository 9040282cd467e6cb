import { createHash } from 'node:crypto';
import type { ReceivedSpan } from '#contracts';
import type { Message } from '../messages.js';
import { byStart } from './distinct.js';
import { messagesOf } from './model-calls.js';

/** The spans of one turn, and the turns of one conversation in their order. */
export type JoinedTurn = readonly ReceivedSpan[];
export type JoinedConversation = readonly JoinedTurn[];

interface Conversation {
  readonly turns: ReceivedSpan[][];
}

/**
 * Conversations among traces that name no session, told by what their models were shown: a request that begins with an earlier request
 * and its answer, word for word, goes on with it. With a user message in what is new it begins a turn, else it belongs to the turn.
 * For libraries that give every span a trace of its own. Of two conversations that are equal so far the later one is gone on with.
 * What nothing joins to another trace is left out.
 * @param traces spans by trace; those without exactly one model call are left out
 */
export function joinHistories(traces: Iterable<readonly ReceivedSpan[]>): JoinedConversation[] {
  const open = new Map<string, Conversation[]>();
  const conversations: Conversation[] = [];
  for (const { spans, asked, answered } of inOrder(traces)) {
    const prefixes = digests(asked);
    const at = prefixes.findLastIndex((prefix) => (open.get(prefix) ?? []).length > 0);
    const known = at < 0 ? undefined : open.get(prefixes[at] ?? '')?.pop();
    const conversation = known ?? { turns: [] };
    if (known === undefined) conversations.push(conversation);
    const isNewTurn = known === undefined || asked.slice(at + 1).some(({ role }) => role === 'user');
    if (isNewTurn) conversation.turns.push([...spans]);
    else conversation.turns.at(-1)?.push(...spans);
    const end = digests([...asked, ...answered]).at(-1) ?? '';
    const ended = open.get(end);
    if (ended === undefined) open.set(end, [conversation]);
    else ended.push(conversation);
  }
  return conversations.map(({ turns }) => turns).filter((turns) => turns.length > 1 || countTraces(turns) > 1);
}

interface Exchange {
  readonly spans: readonly ReceivedSpan[];
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
    exchanges.push({ spans, first, asked: messagesOf(first.input), answered: messagesOf(first.output) });
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
