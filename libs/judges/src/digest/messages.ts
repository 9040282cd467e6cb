import type { Trace } from '#contracts';
import { extractText } from '#domain/checks';
import { plainText, plainValue } from './plain-text.js';

/** Where libraries keep a list of messages. */
const LIST_KEYS = ['messages', 'contents', 'input'] as const;
const LIST_DEPTH = 4;
/** A longer JSON text is shown as the text it is. */
const JSON_TEXT_MAX = 1_048_576;

/** Texts at least this long are not shown twice: wrappers and later calls repeat what was said. */
export const REPEATED_MIN = 80;

const ASKING_ROLES: ReadonlySet<string> = new Set(['user', 'human']);
const TOOL_ROLES: ReadonlySet<string> = new Set(['tool', 'function']);

type Message = Record<string, unknown>;

/** What was shown already: a conversation comes in again with every call of the model. */
export interface Shown {
  readonly messages: Set<string>;
  /** What tools returned in spans of this trace, which show it better; a conversation also holds results of earlier turns. */
  readonly toolOutputs: ReadonlySet<string>;
  /** Whether tool calls are spans of their own; if not, those inside messages are all there is to see. */
  readonly hasToolSpans: boolean;
}

/** Nothing shown yet but a long request, which stands above the steps. */
export function shownAbove(request: string, trace: Trace): Shown {
  const lines = request.length < REPEATED_MIN ? [] : [...ASKING_ROLES].map((role) => keyOf(1, `${role}: ${request}`));
  const tools = trace.spans.filter((span) => span.kind === 'TOOL');
  return {
    messages: new Set(lines),
    toolOutputs: new Set(tools.map((span) => plainValue(span.output))),
    hasToolSpans: tools.length > 0,
  };
}

/** The messages of a list that were not shown before, one `role: text` each; undefined when it is no list of messages. */
export function newMessages(value: unknown, shown: Shown): string | undefined {
  const messages = messagesOf(value, 0);
  if (messages === undefined) return undefined;
  const lines: string[] = [];
  const counts = new Map<string, number>();
  for (const message of messages) {
    const role = roleOf(message) ?? 'message';
    const words = rawWords(message, shown);
    if (words === '' || (TOOL_ROLES.has(role) && shown.toolOutputs.has(words))) continue;
    const line = `${role}: ${words}`;
    // The second "yes" of one conversation is another message; the same one in the next call is not.
    const count = (counts.get(line) ?? 0) + 1;
    counts.set(line, count);
    if (shown.messages.has(keyOf(count, line))) continue;
    shown.messages.add(keyOf(count, line));
    lines.push(plainText(line));
  }
  return lines.join('\n');
}

/** The words of a model's input or output, out of their wrappers; as JSON where no words are found. */
export function wordsOf(value: unknown, shown: Shown): string {
  return plainText(rawWords(value, shown));
}

function keyOf(count: number, line: string): string {
  return `${count} ${line}`;
}

function rawWords(value: unknown, shown: Shown): string {
  if (isMessage(value) && TOOL_ROLES.has(roleOf(value) ?? '')) return plainValue(contentOf(value));
  if (!shown.hasToolSpans && mentionsCalls(value)) return plainValue(withoutIdentity(value));
  const words = spokenWords(value);
  if (words !== '') return words;
  return mentionsCalls(value) ? '' : plainValue(withoutIdentity(value));
}

function spokenWords(value: unknown): string {
  if (!isMessage(value)) return extractText(value, 'answer');
  const side = ASKING_ROLES.has(roleOf(value) ?? '') ? 'request' : 'answer';
  // System messages are nobody's words to the checks, but they are what the model was told.
  return extractText(value, side) || extractText(contentOf(value), 'request');
}

function contentOf(message: Message): unknown {
  return message.content ?? message.parts;
}

function messagesOf(value: unknown, depth: number): Message[] | undefined {
  if (depth > LIST_DEPTH) return undefined;
  if (typeof value === 'string') return messagesOf(parsed(value), depth + 1);
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

/** What a JSON text of an object or array says; undefined for any other text. */
function parsed(text: string): unknown {
  if (text.length > JSON_TEXT_MAX || !/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
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
