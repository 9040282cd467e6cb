import { extractText } from '#domain/checks';
import { plainText, plainValue } from './plain-text.js';

/** Where libraries keep a list of messages. */
const LIST_KEYS = ['messages', 'contents', 'input'] as const;
const LIST_DEPTH = 3;

type Message = Record<string, unknown>;

/** Remembers which messages were shown: a conversation comes in again with every call of the model. */
export interface Shown {
  readonly messages: Set<string>;
  /** Whether tool calls are spans of their own; if not, those inside messages are all there is to see. */
  readonly hasToolSpans: boolean;
}

/** The messages of a model call's input that were not shown before, one `role: text` each; undefined when it is no list of messages. */
export function newMessages(input: unknown, shown: Shown): string | undefined {
  const messages = messagesOf(input, 0);
  if (messages === undefined) return undefined;
  const lines: string[] = [];
  const counts = new Map<string, number>();
  for (const message of messages) {
    const line = `${roleOf(message) ?? 'message'}: ${wordsOf(message, shown)}`;
    // The second "yes" of one conversation is another message; the same one in the next call is not.
    const count = (counts.get(line) ?? 0) + 1;
    counts.set(line, count);
    const key = `${count} ${line}`;
    if (shown.messages.has(key)) continue;
    shown.messages.add(key);
    lines.push(line);
  }
  return lines.join('\n');
}

/** The words of a message or of a model's output, out of their wrappers; as JSON where no words are found. */
export function wordsOf(value: unknown, shown: Shown): string {
  if (!shown.hasToolSpans && mentionsCalls(value)) return plainValue(withoutIdentity(value));
  const words = spokenWords(value);
  if (words !== '') return plainText(words);
  return mentionsCalls(value) ? '' : plainValue(withoutIdentity(value));
}

function spokenWords(value: unknown): string {
  const role = isMessage(value) ? (roleOf(value) ?? '') : '';
  const spoken = extractText(value, role === 'user' || role === 'human' ? 'request' : 'answer');
  if (spoken !== '' || !isMessage(value)) return spoken;
  // System and tool messages are nobody's words to the checks, but they are what the model was told.
  return extractText(value.content ?? value.parts, 'request');
}

function messagesOf(value: unknown, depth: number): Message[] | undefined {
  if (depth > LIST_DEPTH) return undefined;
  if (Array.isArray(value)) {
    if (value.length === 1 && Array.isArray(value[0])) return messagesOf(value[0], depth + 1);
    const messages = value.filter(isMessage);
    return messages.length > 0 && messages.every((message) => roleOf(message) !== undefined) ? messages : undefined;
  }
  if (!isMessage(value)) return undefined;
  for (const key of LIST_KEYS) {
    const found = Object.hasOwn(value, key) ? messagesOf(value[key], depth + 1) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function roleOf(message: Message): string | undefined {
  const role = message.role ?? message.type;
  return typeof role === 'string' ? role.toLowerCase() : undefined;
}

/** Whether the model asked for tools in it; spans of those calls, where there are any, show them better. */
function mentionsCalls(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const text = JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? String(member) : member));
  return /"(?:tool_calls":\[.|tool_use"|toolCalls":\[.|functionCall"|function_call":\{)/.test(text);
}

function withoutIdentity(value: unknown): unknown {
  if (!isMessage(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !['id', 'role', 'type'].includes(key)));
}
