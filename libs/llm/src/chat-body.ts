import type { Capabilities } from './capabilities.js';
import type { RequestSchema } from './json-schema.js';
import type { ChatMessage, ChatRequest } from './requests.js';
import { writeToolArguments } from './tool-arguments.js';

/** A chat request, and the shape that its answer must have, if any. */
export interface Ask extends ChatRequest {
  readonly format?: { readonly name: string; readonly schema: RequestSchema } | undefined;
}

export interface ChatBody {
  readonly body: Readonly<Record<string, unknown>> & { readonly model: string };
  /** What was asked for and left out, because the model refuses it. */
  readonly notes: readonly string[];
}

/** The body to send to a model that takes what `known` says; what is not configured is not sent. */
export function chatBody(ask: Ask, known: Capabilities): ChatBody {
  const notes: string[] = [];
  const parts: Record<string, unknown>[] = [{ messages: messagesOf(ask, known) }];
  const { temperature, reasoningEffort, tools, maxOutputTokens } = ask;
  if (tools !== undefined && tools.length > 0) {
    parts.push({ tools: tools.map((tool) => ({ type: 'function', function: tool })) });
  }
  if (known.maxTokensName === 'none') notes.push('max_tokens not accepted');
  else parts.push({ [known.maxTokensName]: maxOutputTokens });
  if (temperature !== undefined) {
    if (known.temperature) parts.push({ temperature });
    else notes.push('temperature not accepted');
  }
  if (reasoningEffort !== undefined) {
    if (known.refusedEfforts.includes(reasoningEffort)) notes.push('reasoning_effort not accepted');
    else parts.push({ reasoning_effort: reasoningEffort });
  }
  parts.push(formatOf(ask, known, notes));
  return { body: { model: ask.model, ...(Object.assign({}, ...parts) as Record<string, unknown>) }, notes };
}

function formatOf({ format }: Ask, known: Capabilities, notes: string[]): Record<string, unknown> {
  if (format === undefined) return {};
  const { name, schema } = format;
  if (known.jsonSchema) {
    return { response_format: { type: 'json_schema', json_schema: { name, strict: schema.strict, schema: schema.sent } } };
  }
  notes.push('json_schema not accepted');
  if (known.jsonMode) return { response_format: { type: 'json_object' } };
  notes.push('json_object not accepted');
  return {};
}

/** Where the provider does not enforce the schema, the model is told it. */
function messagesOf({ messages, format }: Ask, known: Capabilities): Record<string, unknown>[] {
  const [first, ...rest] = messages;
  if (format === undefined || known.jsonSchema || first?.role !== 'system') return messages.map(written);
  const content = `${first.content}\n\n${inWords(format.schema)}`;
  return [{ role: 'system', content: wellFormed(content) }, ...rest.map(written)];
}

export function inWords({ full }: RequestSchema): string {
  return `Answer with one JSON object and nothing else. It must satisfy this JSON Schema: ${JSON.stringify(full)}`;
}

function written(message: ChatMessage): Record<string, unknown> {
  const content = wellFormed(message.content);
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.toolCallId, content };
  if (message.role !== 'assistant' || message.toolCalls === undefined) return { role: message.role, content };
  const calls = message.toolCalls.map(({ id, name, arguments: read }) => ({
    id,
    type: 'function',
    function: { name, arguments: writeToolArguments(read) },
  }));
  return { role: 'assistant', content: content === '' ? null : content, tool_calls: calls };
}

/** Half of a surrogate pair, as a text cut in the middle of an emoji has, makes strict servers refuse the request. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD');
}
