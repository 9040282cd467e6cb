import { fromJsonText, isRecord, member, textOrUndefined, type JsonRecord } from '../json-value.js';
import { fromPythonLiteral } from './framework-python-literal.js';

/** What a tool answered, as LangChain says it: `{ type: 'tool', tool_call_id, content }`. */
export interface ToolResult {
  readonly callId: string;
  readonly content: unknown;
}

export function toolResult(value: unknown): ToolResult | undefined {
  if (!isRecord(value) || (member(value, 'type') ?? member(value, 'role')) !== 'tool') return undefined;
  const callId = textOrUndefined(member(value, 'tool_call_id'));
  return callId === undefined ? undefined : { callId, content: member(value, 'content') };
}

/** Arguments of a tool. LangChain hands its callbacks Python's text of a dict (`{'query': 'x'}`); what is no such text stays as it is. */
export function argumentsOf(value: unknown): unknown {
  return typeof value === 'string' ? (fromPythonLiteral(fromJsonText(value)) ?? value) : value;
}

/** LangChain's handler adds the tools a model may call to its messages, each as a message of the role `tool`. */
export function toolDefinitions(value: unknown): unknown[] {
  return Array.isArray(value) ? value.filter(isDefinition).map((message: JsonRecord) => message['content']) : [];
}

/** The messages without such tools: they were never said. */
export function withoutDefinitions(value: unknown): unknown {
  return Array.isArray(value) ? value.filter((message) => !isDefinition(message)) : value;
}

function isDefinition(message: unknown): message is JsonRecord {
  if (!isRecord(message) || member(message, 'role') !== 'tool' || 'tool_call_id' in message) return false;
  const content = fromJsonText(member(message, 'content'));
  return isRecord(content) && member(content, 'type') === 'function' && isRecord(member(content, 'function'));
}

/** Where a message begins in a text that some instrumentations make of a conversation: `system: …`, `user: …`, one after the other. */
const ROLE_LINE = /^(system|developer|user|assistant|tool): /gm;

/** How such a text says that a message had no words: Python's None. */
export const NONE = 'None';

export function isRoleLines(value: unknown): value is string {
  return typeof value === 'string' && value.search(ROLE_LINE) === 0;
}

/** Such a text as its messages; anything else as it is. A line inside a message that begins like one is taken for one. */
export function fromRoleLines(value: unknown): unknown {
  if (!isRoleLines(value)) return value;
  const starts = [...value.matchAll(ROLE_LINE)];
  const messages = starts.map((start, at) => ({
    role: start[1],
    content: value.slice(start.index + start[0].length, starts[at + 1]?.index).replace(/\n$/, ''),
  }));
  return messages.filter(({ content }) => content !== NONE);
}
