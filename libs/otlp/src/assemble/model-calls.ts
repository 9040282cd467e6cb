import type { ReceivedSpan } from '#contracts';
import { isRecord } from '../json-value.js';
import type { Conversation, Message, MessageToolCall } from '../messages.js';

/** A tool call as a model asked for it. */
export interface AskedCall extends MessageToolCall {
  readonly by: ReceivedSpan;
  /** Its number among the calls of that answer. */
  readonly n: number;
}

export interface ToolResult {
  readonly content: string;
  readonly failed: boolean;
  /** When a model was first shown it, in microseconds. */
  readonly shownAt: number;
}

/** The calls that the models of a trace asked for, in order; one with a known id once. */
export function askedCalls(calls: readonly ReceivedSpan[]): AskedCall[] {
  const known = new Set<string>();
  const asked: AskedCall[] = [];
  for (const by of calls) {
    const inAnswer = messagesOf(by.output).flatMap((message) => message.tool_calls ?? []);
    for (const [n, call] of inAnswer.entries()) {
      if (call.id !== '' && known.has(call.id)) continue;
      known.add(call.id);
      asked.push({ ...call, by, n });
    }
  }
  return asked;
}

/** What tools answered, by call id, as the models were shown it. */
export function shownResults(calls: readonly ReceivedSpan[]): Map<string, ToolResult> {
  const results = new Map<string, ToolResult>();
  for (const span of calls) {
    for (const message of messagesOf(span.input)) {
      const id = message.tool_call_id ?? '';
      if (message.role !== 'tool' || id === '' || results.has(id)) continue;
      results.set(id, { content: message.content, failed: message.is_error === true, shownAt: span.started_at });
    }
  }
  return results;
}

/** Of spans from outside, which may hold anything: of the normal form only its messages. */
export function messagesOf(value: unknown): readonly Message[] {
  return isConversation(value) ? value.messages : [];
}

export function isConversation(value: unknown): value is Conversation {
  return isRecord(value) && Array.isArray(value['messages']) && value['messages'].every(isMessage);
}

function isMessage(value: unknown): boolean {
  if (!isRecord(value) || typeof value['role'] !== 'string' || typeof value['content'] !== 'string') return false;
  const calls = value['tool_calls'];
  return (
    calls === undefined || (Array.isArray(calls) && calls.every((call) => isRecord(call) && typeof call['name'] === 'string'))
  );
}
