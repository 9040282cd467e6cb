import { firstMember, fromJsonText, isRecord, member, textOrUndefined, type JsonRecord } from './json-value.js';
import type { Message, MessageToolCall } from './messages.js';

/** What the parts of one message come to. */
export interface Content {
  readonly words: string[];
  readonly calls: MessageToolCall[];
  readonly results: Message[];
}

const DEPTH_MAX = 6;
/** Parts that are not words for the other side: private reasoning and media. */
const WORDLESS = /reason|think|image|audio|video|file|media|document|blob|uri/i;
const CALL_TYPES = new Set(['tool_use', 'tool_call', 'tool-call', 'function_call', 'server_tool_use', 'mcp_call', 'function']);
const RESULT_TYPES = new Set(['tool_result', 'tool-result', 'tool_call_response', 'function_call_output', 'tool_response']);
const CALL_ID_KEYS = ['call_id', 'tool_call_id', 'toolCallId', 'tool_use_id', 'toolUseId', 'id'];

/** Collects words, tool calls and tool results of a message's content, whatever library's parts it is made of. */
export function readContent(value: unknown, into: Content, depth = 0): void {
  if (depth > DEPTH_MAX) return;
  if (Array.isArray(value)) for (const part of value) readContent(part, into, depth + 1);
  else if (isRecord(value)) readPart(value, into, depth);
  else if (isScalar(value)) into.words.push(String(value));
}

/** Empty text is no word. */
function isScalar(value: unknown): value is string | number | bigint | boolean {
  return (typeof value === 'string' && value !== '') || ['number', 'bigint', 'boolean'].includes(typeof value);
}

function readPart(part: JsonRecord, into: Content, depth: number): void {
  const wrapped = firstMember(part, [
    'message_content',
    'tool_call',
    'toolUse',
    'toolResult',
    'functionCall',
    'functionResponse',
  ]);
  const call = toCall(part);
  const result = call === undefined ? toResult(part) : undefined;
  if (call !== undefined) into.calls.push(call);
  else if (result !== undefined) into.results.push(result);
  else if (isRecord(wrapped)) readPart(wrapped, into, depth + 1);
  else if (!isWordless(part)) readContent(firstMember(part, ['text', 'content', 'refusal', 'value', 'parts']), into, depth + 1);
}

function isWordless(part: JsonRecord): boolean {
  const type = member(part, 'type') ?? member(part, 'part_kind');
  return member(part, 'thought') === true || (typeof type === 'string' && WORDLESS.test(type));
}

/** A call in any library's words; undefined when the value is none. */
export function toCall(value: unknown): MessageToolCall | undefined {
  if (!isRecord(value)) return undefined;
  const type = member(value, 'type');
  const inner = firstMember(value, ['tool_call', 'function', 'functionCall', 'toolUse']);
  if (isRecord(inner)) return callOf(inner, textOrUndefined(firstMember(value, CALL_ID_KEYS)));
  if (typeof type === 'string' ? CALL_TYPES.has(type) : looksLikeCall(value)) return callOf(value, undefined);
  return undefined;
}

/** Without a `type`: a name together with arguments, and no role. */
function looksLikeCall(value: JsonRecord): boolean {
  return (
    member(value, 'role') === undefined &&
    textOrUndefined(firstMember(value, ['name', 'toolName'])) !== undefined &&
    ['arguments', 'args', 'input'].some((key) => Object.hasOwn(value, key))
  );
}

function callOf(value: JsonRecord, outerId: string | undefined): MessageToolCall | undefined {
  const nested = firstMember(value, ['function', 'tool_call']);
  if (isRecord(nested)) return callOf(nested, textOrUndefined(firstMember(value, CALL_ID_KEYS)) ?? outerId);
  const name = textOrUndefined(firstMember(value, ['name', 'toolName', 'tool_name']));
  if (name === undefined) return undefined;
  const id = textOrUndefined(firstMember(value, CALL_ID_KEYS)) ?? outerId ?? '';
  return { id, name, arguments: firstMember(value, ['arguments', 'args', 'input', 'parameters']) };
}

/** What a tool answered, as a message of the role `tool`. */
function toResult(value: JsonRecord): Message | undefined {
  const type = member(value, 'type');
  const inner = firstMember(value, ['functionResponse', 'toolResult']);
  if (isRecord(inner)) return resultOf(inner);
  return typeof type === 'string' && RESULT_TYPES.has(type) ? resultOf(value) : undefined;
}

export function resultOf(value: JsonRecord): Message {
  const content = firstMember(value, ['content', 'output', 'response', 'result', 'text', 'contents', 'parts']);
  const name = textOrUndefined(firstMember(value, ['name', 'toolName', 'tool_name']));
  return {
    role: 'tool',
    content: resultText(content),
    tool_call_id: textOrUndefined(firstMember(value, CALL_ID_KEYS)) ?? '',
    ...(name === undefined ? {} : { name }),
    ...(saysFailure(value, content) ? { is_error: true as const } : {}),
  };
}

function saysFailure(value: JsonRecord, content: unknown): boolean {
  const status = member(value, 'status');
  const type = isRecord(content) ? member(content, 'type') : undefined;
  return (
    firstMember(value, ['is_error', 'isError']) === true || status === 'error' || type === 'error-text' || type === 'error-json'
  );
}

/** The words of a result; JSON of a result that has none (`{"found": 3}`). */
function resultText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  const words: string[] = [];
  const isParts = Array.isArray(content) && content.every(isTextPart);
  // The AI SDK wraps: { type: 'text' | 'json' | 'error-text', value }.
  const wrapped = isRecord(content) && typeof member(content, 'type') === 'string' ? member(content, 'value') : undefined;
  if (isParts) readContent(content, { words, calls: [], results: [] });
  if (words.length > 0) return words.join('\n');
  if (typeof wrapped === 'string') return wrapped;
  return safeJson(wrapped ?? fromJsonText(content));
}

function isTextPart(part: unknown): boolean {
  if (!isRecord(part)) return false;
  return (
    typeof member(part, 'text') === 'string' || (member(part, 'type') === 'text' && typeof member(part, 'content') === 'string')
  );
}

function safeJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? String(item) : item));
}
