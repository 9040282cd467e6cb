import { readContent, resultOf, toCall, type Content } from './content-parts.js';
import { firstMember, fromJsonText, isRecord, member, type JsonRecord } from './json-value.js';
import type { Conversation, Message, MessageToolCall } from './messages.js';

type Role = 'user' | 'assistant';

const DEPTH_MAX = 8;
/** A longer history keeps its end: what was asked last and answered last. */
const MESSAGES_MAX = 4_096;

const ROLES: ReadonlyMap<string, string> = new Map([
  ...['user', 'human', 'humanmessage', 'humanmessagechunk'].map((role) => [role, 'user'] as const),
  ...['assistant', 'ai', 'model', 'aimessage', 'aimessagechunk'].map((role) => [role, 'assistant'] as const),
  ...['system', 'developer', 'systemmessage'].map((role) => [role, 'system'] as const),
  ...['tool', 'function', 'toolmessage', 'functionmessage'].map((role) => [role, 'tool'] as const),
]);

/** Where an object keeps its messages, with the role of words that name none. */
const LISTS: readonly (readonly [key: string, role: Role | undefined])[] = [
  ['messages', undefined],
  ['choices', 'assistant'],
  ['candidates', 'assistant'],
  ['generations', 'assistant'],
  ['contents', 'user'],
  ['input', 'user'],
  ['output', 'assistant'],
  ['prompt', 'user'],
  ['prompts', 'user'],
  ['completion', 'assistant'],
];
const SYSTEM_KEYS = ['system', 'instructions', 'system_instruction', 'systemInstruction', 'system_prompt'];

/**
 * The messages in a recorded value, in whichever wrapper: OpenAI (chat, responses), Anthropic, Gemini, LangChain, the AI SDK,
 * the GenAI conventions (parts), OpenInference and the older numbered attributes, and JSON texts of them.
 * @param role whose words a text without a role is
 * @returns undefined when the value holds none
 */
export function toConversation(value: unknown, role: Role): Conversation | undefined {
  const messages: Message[] = [];
  collect(value, role, messages, 0);
  if (messages.length === 0) return undefined;
  nameResults(messages);
  return { messages: messages.length > MESSAGES_MAX ? messages.slice(-MESSAGES_MAX) : messages };
}

/** A tool's answer that does not say to which call stands for the next one of the answer before it (OpenLIT leaves the id out). */
function nameResults(messages: Message[]): void {
  let open: readonly MessageToolCall[] = [];
  for (const [at, message] of messages.entries()) {
    if (message.role !== 'tool') open = message.tool_calls ?? [];
    else if (message.tool_call_id === '') {
      const [call, ...rest] = open;
      if (call !== undefined) messages[at] = { ...message, tool_call_id: call.id, name: message.name ?? call.name };
      open = rest;
    } else open = open.filter(({ id }) => id !== message.tool_call_id);
  }
}

function collect(value: unknown, role: Role, into: Message[], depth: number): void {
  if (depth > DEPTH_MAX) return;
  const plain = fromJsonText(value);
  if (typeof plain === 'string') {
    if (plain !== '') into.push({ role, content: plain });
  } else if (Array.isArray(plain)) for (const item of plain) collect(item, role, into, depth + 1);
  else if (isRecord(plain)) collectRecord(plain, role, into, depth);
}

function collectRecord(value: JsonRecord, role: Role, into: Message[], depth: number): void {
  const inner = firstMember(value, ['message', 'kwargs']);
  if (isMessage(value)) into.push(...toMessages(value, role));
  else if (isRecord(inner)) collect(withRoleOf(value, inner), role, into, depth + 1);
  else collectFromList(value, role, into, depth);
}

function collectFromList(value: JsonRecord, role: Role, into: Message[], depth: number): void {
  const list = LISTS.find(([key]) => isSet(member(value, key)));
  if (list === undefined) {
    if (hasContent(value)) into.push(...toMessages(value, role));
    return;
  }
  const system = content(firstMember(value, SYSTEM_KEYS)).words.join('\n');
  if (system !== '' && list[1] !== 'assistant') into.push({ role: 'system', content: system });
  const found = member(value, list[0]);
  // Several answers to one request are alternatives: the first one was the answer.
  const first =
    list[1] === 'assistant' && ['choices', 'candidates'].includes(list[0]) && Array.isArray(found)
      ? (found[0] as unknown)
      : found;
  collect(first, list[1] ?? role, into, depth + 1);
}

/** LangChain's serialised messages name their class in a list: `{ id: [..., 'AIMessage'], kwargs: {...} }`. */
function withRoleOf(outer: JsonRecord, inner: JsonRecord): JsonRecord {
  const id = member(outer, 'id');
  const named: unknown = Array.isArray(id) ? id.at(-1) : undefined;
  return isMessage(inner) || typeof named !== 'string' ? inner : { ...inner, role: named };
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function hasContent(value: JsonRecord): boolean {
  return ['content', 'contents', 'parts', 'text', 'tool_calls', 'reasoning_content'].some((key) => isSet(member(value, key)));
}

function isMessage(value: JsonRecord): boolean {
  return roleOf(value) !== undefined || isItem(value);
}

/** An item of the Responses API is a message of its own: a call, or what a tool answered. */
function isItem(value: JsonRecord): boolean {
  const type = member(value, 'type');
  return type === 'function_call' || type === 'function_call_output' || type === 'reasoning' || type === 'tool-call';
}

function roleOf(value: JsonRecord): string | undefined {
  const role = member(value, 'role') ?? member(value, 'type');
  return typeof role === 'string' ? ROLES.get(role.toLowerCase()) : undefined;
}

function content(value: unknown): Content {
  const read: Content = { words: [], calls: [], results: [] };
  readContent(value, read);
  return read;
}

/** One recorded message; several when it holds results of tools beside words (Anthropic answers tools in user messages). */
function toMessages(value: JsonRecord, role: Role): Message[] {
  if (isItem(value)) return withCalls(content(value), 'assistant');
  const own = roleOf(value) ?? role;
  // OpenInference keeps the role that Anthropic gives a tool's answer: the user's.
  if (own === 'tool' || (own === 'user' && isSet(member(value, 'tool_call_id')))) {
    const parts = content(firstMember(value, ['content', 'contents', 'parts']));
    return parts.results.length > 0 ? parts.results : [resultOf(value)];
  }
  const read = content(firstMember(value, ['content', 'contents', 'parts', 'text']));
  // OpenInference says text twice where there are parts as well; some say calls both as parts and as a list.
  for (const call of listedCalls(value)) if (!read.calls.some((known) => sameCall(known, call))) read.calls.push(call);
  return withCalls(read, own);
}

function sameCall(a: MessageToolCall, b: MessageToolCall): boolean {
  return a.id === '' ? a.name === b.name && a.arguments === b.arguments : a.id === b.id;
}

function listedCalls(value: JsonRecord): MessageToolCall[] {
  const extra = member(value, 'additional_kwargs');
  const listed = firstMember(value, ['tool_calls', 'toolCalls']) ?? (isRecord(extra) ? member(extra, 'tool_calls') : undefined);
  const single = member(value, 'function_call');
  const all: unknown[] = Array.isArray(listed) ? listed : isRecord(single) ? [single] : [];
  return all.map(toCall).filter((call) => call !== undefined);
}

function withCalls({ words, calls, results }: Content, role: string): Message[] {
  const text = words.join('\n');
  if (text === '' && calls.length === 0) return results;
  return [...results, { role, content: text, ...(calls.length === 0 ? {} : { tool_calls: calls }) }];
}
