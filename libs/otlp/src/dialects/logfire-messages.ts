import type { Reader } from '../dialect.js';
import { fromJsonText, isRecord, member } from '../json-value.js';
import type { Conversation } from '../messages.js';
import { json } from '../readers.js';
import type { SpanView } from '../span-view.js';
import { toConversation } from '../to-conversation.js';
import { once } from './framework-once.js';

/** Stands for content that was not recorded: no words, or equal texts would be compared. */
const ELIDED = '<elided>';

const listed = once(json('events'));
const conversation = once((span) => toConversation(runMessages(span), 'user'));

/**
 * `events`: the messages of a call as the GenAI events of before 1.37, in one list. The answer is the choice, where there is one, else the
 * assistant's messages at the end.
 */
export function eventMessages(side: 'input' | 'output'): Reader<Conversation> {
  return (span) => {
    const events = listed(span) ?? bodies(span, side);
    if (!Array.isArray(events)) return undefined;
    const [input, output] = splitEvents(events.map(withRole).filter((event) => event !== undefined));
    return side === 'input' ? toConversation(input, 'user') : toConversation(output, 'assistant');
  };
}

/** The same while they are events of the span still. */
function bodies(span: SpanView, side: 'input' | 'output'): unknown[] | undefined {
  const found = span.events.filter(({ attributes }) => attributes.has('event_body'));
  const ofSide = found.filter(({ name }) => (name === 'gen_ai.choice') === (side === 'output'));
  for (const event of ofSide) span.readEvent(event);
  return found.length === 0 ? undefined : found.map(({ attributes }) => fromJsonText(attributes.get('event_body')));
}

/** The messages of an agent's run: up to the last one of the user it is the request, after it the answer. */
export function agentMessages(side: 'input' | 'output'): Reader<Conversation> {
  return (span) => {
    const all = conversation(span)?.messages;
    if (all === undefined) return undefined;
    const end = all.findLastIndex(({ role }) => role === 'user') + 1;
    const part = side === 'input' ? all.slice(0, end) : all.slice(end);
    return part.length === 0 ? undefined : { messages: part };
  };
}

function runMessages(span: SpanView): unknown {
  const events = json('all_messages_events')(span);
  if (Array.isArray(events)) return events.map(withRole).filter((event) => event !== undefined);
  const found = json('pydantic_ai.all_messages')(span);
  const system = json('gen_ai.system_instructions')(span);
  if (found === undefined || system === undefined || startsWithSystem(found)) return found;
  return { messages: found, system };
}

function startsWithSystem(found: unknown): boolean {
  const first: unknown = Array.isArray(found) ? found[0] : undefined;
  return isRecord(first) && member(first, 'role') === 'system';
}

/** The role may be told by the event's name only: `gen_ai.user.message`. An `unknown` one stands for what is no message. */
function withRole(event: unknown): Record<string, unknown> | undefined {
  if (!isRecord(event) || member(event, 'content') === ELIDED || member(event, 'role') === 'unknown') return undefined;
  const named = /^gen_ai\.(\w+)\.message$/.exec(String(member(event, 'event.name')))?.[1];
  return { ...(named === undefined ? {} : { role: named }), ...event };
}

function splitEvents(events: readonly Record<string, unknown>[]): [input: unknown[], output: unknown[]] {
  const choices = events.filter(isChoice);
  if (choices.length > 0) return [events.filter((event) => !isChoice(event)), choices];
  const end = events.findLastIndex(({ role }) => role !== 'assistant') + 1;
  return [events.slice(0, end), events.slice(end)];
}

function isChoice(event: Record<string, unknown>): boolean {
  return event['event.name'] === 'gen_ai.choice' || isRecord(event['message']) || 'finish_reason' in event;
}

/** `response_data`: the message, or a text, or the chunks of a stream put together. */
export function streamedAnswer(span: SpanView): unknown {
  const response = json('response_data')(span);
  if (!isRecord(response)) return undefined;
  return member(response, 'message') ?? member(response, 'combined_chunk_content') ?? fromJsonText(member(response, 'text'));
}
