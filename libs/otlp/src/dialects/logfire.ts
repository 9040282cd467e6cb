import type { ReceivedSpan, Tool } from '#contracts';
import type { Agent, Dialect, Reader } from '../dialect.js';
import { firstMember, isRecord, member, textOrUndefined } from '../json-value.js';
import { json, messages, raw, text, tools } from '../readers.js';
import type { SpanView } from '../span-view.js';
import { toTools } from '../to-tools.js';
import { once } from './framework-once.js';
import { agentMessages, eventMessages, streamedAnswer } from './logfire-messages.js';

/** What the instrumentations of Logfire call their spans: templates, the same for every call. The first match counts. */
const NAMES: readonly (readonly [pattern: RegExp, kind: ReceivedSpan['kind']])[] = [
  [/^Function: /, 'TOOL'],
  [/^Agent run: /, 'AGENT'],
  [/^(?:OpenAI Agents trace|Task|Turn|Handoff|Guardrail|Custom span)\b/, 'CHAIN'],
  [/^OpenAI agents: .* span$/, 'CHAIN'],
  // Beside the span of the tool that was called over it, which has arguments and result: one call, not three.
  [/^(?:MCP|tools)\b/, 'OTHER'],
  [/^(?:OpenAI|Anthropic) API call to /, 'OTHER'],
  [/^(?:Image Generation with|Speech → Text|Text → Speech)/, 'OTHER'],
  [/^running (?:tools?: |\d+ tools?$)/, 'CHAIN'],
  [/ run$/, 'AGENT'],
];
/** A call whose answer was recorded has one of these. */
const ANSWERED = [
  'response_data',
  'gen_ai.output.messages',
  'gen_ai.response.id',
  'response_id',
  'gen_ai.usage.output_tokens',
  'output',
  'error',
];
const request = once(json('request_data'));
/** Logfire's level of an error. */
const ERROR_LEVEL = 17;

/**
 * Logfire and Pydantic AI (message formats 1 to 3): `logfire.*`, `request_data`, `response_data`, lists of messages as one JSON text. Newer
 * versions say the same in the GenAI conventions too, which are read first where both are there.
 */
export const logfire: Dialect = {
  name: 'logfire',
  speaks: (span) =>
    span.hasFamily('logfire') ||
    span.hasFamily('pydantic_ai') ||
    span.scope === 'pydantic-ai' ||
    span.scope.startsWith('logfire'),
  fields: {
    kind: [kind],
    name: [functionName],
    input: [
      raw('tool_arguments'),
      ofFunctions(raw('input')),
      agentMessages('input'),
      ofModelCalls(messages(json('input'), 'user')),
      unless('gen_ai.input.messages', eventMessages('input')),
      unless('gen_ai.input.messages', messages(request, 'user')),
      messages(json('raw_input'), 'user'),
      json('request'),
    ],
    output: [
      json('tool_response'),
      ofFunctions(json('output')),
      json('final_result'),
      agentMessages('output'),
      unless('gen_ai.output.messages', eventMessages('output')),
      unless('gen_ai.output.messages', messages(streamedAnswer, 'assistant')),
      ofModelCalls(messages(json('output'), 'assistant')),
      json('response'),
    ],
    model: [text('model_name')],
    tools: [tools(requestTools), listedTools, unless('gen_ai.tool.definitions', tools(requestMember('tools')))],
    error: [error],
    agent: [agent],
    session: [groupId],
  },
};

function kind(span: SpanView): ReceivedSpan['kind'] | undefined {
  if (span.has('mcp.method.name')) return 'OTHER';
  if (span.has('gen_ai.tool.name') || span.has('openinference.span.kind')) return undefined;
  if (isReportedLater(span)) return 'CHAIN';
  return NAMES.find(([pattern]) => pattern.test(span.name))?.[1];
}

/** The span of a streamed call ends before its answer; `streaming response from …` repeats the request beside the answer, and counts. */
function isReportedLater(span: SpanView): boolean {
  return (
    /^(?:Message|Chat Completion|Completion|Responses API) with /.test(span.name) &&
    !ANSWERED.some((key) => span.has(key)) &&
    !span.events.some(({ name }) => name === 'exception')
  );
}

function isFunction(span: SpanView): boolean {
  return span.name.startsWith('Function: ');
}

function ofFunctions<T>(reader: Reader<T>): Reader<T> {
  return (span) => (isFunction(span) ? reader(span) : undefined);
}

function ofModelCalls<T>(reader: Reader<T>): Reader<T> {
  return (span) => (span.has('gen_ai.request.model') && kind(span) === undefined ? reader(span) : undefined);
}

function unless<T>(key: string, reader: Reader<T>): Reader<T> {
  return (span) => (span.has(key) ? undefined : reader(span));
}

/** `Function: {name}` is the template; the name is an attribute. */
function functionName(span: SpanView): string | undefined {
  return isFunction(span) ? text('name')(span) : undefined;
}

function requestMember(key: string): Reader<unknown> {
  return (span) => {
    const found = request(span);
    return isRecord(found) ? member(found, key) : undefined;
  };
}

/** Pydantic AI's settings of a request: `{ function_tools: [{ name, parameters_json_schema }], output_tools: [...] }`. */
function requestTools(span: SpanView): unknown {
  const parameters = json('model_request_parameters')(span);
  if (!isRecord(parameters)) return undefined;
  const all = [member(parameters, 'function_tools'), member(parameters, 'output_tools')].filter(Array.isArray).flat();
  return all.map((tool: unknown) => (isRecord(tool) ? { ...tool, parameters: member(tool, 'parameters_json_schema') } : tool));
}

/** What an MCP server says it has, when asked `tools/list`; or an agent's tools by name. */
function listedTools(span: SpanView): readonly Tool[] | undefined {
  const listed = json('response')(span);
  const found = isRecord(listed) ? toTools(member(listed, 'tools')) : namedTools(span);
  return found.length === 0 ? undefined : found;
}

function namedTools(span: SpanView): Tool[] {
  const names = span.name.startsWith('Agent run: ') ? json('tools')(span) : undefined;
  return Array.isArray(names) ? toTools(names.map((name: unknown) => ({ name }))) : [];
}

function error(span: SpanView): unknown {
  const said = json('error')(span);
  if (isRecord(said)) return said;
  const level = span.peek('logfire.level_num');
  if (typeof level !== 'number' || level < ERROR_LEVEL || !span.has('gen_ai.tool.name')) return undefined;
  return { message: text('error.type')(span) ?? text('logfire.msg')(span) ?? 'error' };
}

function agent(span: SpanView): Agent | undefined {
  const id = text('gen_ai.agent.name')(span) ?? text('agent_name')(span) ?? runName(span);
  return id === undefined ? undefined : { id, version: null, model: null };
}

function runName(span: SpanView): string | undefined {
  return span.name.startsWith('Agent run: ') ? text('name')(span) : undefined;
}

/** Of OpenAI Agents, on the root. Without one, Logfire writes the JSON of null. */
function groupId(span: SpanView): string | undefined {
  const id: unknown = firstMember({ id: json('group_id')(span) }, ['id']);
  return id === 'null' ? undefined : textOrUndefined(id);
}
