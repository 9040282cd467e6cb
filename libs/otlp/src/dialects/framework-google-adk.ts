import type { Agent, Dialect } from '../dialect.js';
import { isRecord, member } from '../json-value.js';
import { json, messages, text, tools } from '../readers.js';
import type { SpanView } from '../span-view.js';
import { once } from './framework-once.js';

/** Of a span that is no tool's or no model's ADK writes the other attributes all the same, as `{}`. */
const PREFIX = 'gcp.vertex.agent.';

const request = once(json(`${PREFIX}llm_request`));

/** Google's Agent Development Kit: the whole request and response of the model, and what tools took and gave, as JSON. */
export const googleAdk: Dialect = {
  name: 'google-adk',
  speaks: (span) => span.hasFamily('gcp.vertex') || span.scope === 'gcp.vertex.agent' || span.scope.endsWith('.google_adk'),
  fields: {
    kind: [(span) => (span.name === 'call_llm' ? 'LLM' : undefined)],
    input: [ofTools('tool_call_args'), messages(inCamelCase('llm_request'), 'user'), messages(newMessage, 'user')],
    output: [ofTools('tool_response'), messages(inCamelCase('llm_response'), 'assistant')],
    tools: [tools(declarations)],
    agent: [agent],
    session: [text(`${PREFIX}session_id`)],
  },
};

function ofTools(name: string) {
  return (span: SpanView): unknown => (span.has('gen_ai.tool.name') ? filled(json(PREFIX + name)(span)) : undefined);
}

function filled(value: unknown): unknown {
  return value === '<not serializable>' ? undefined : value;
}

/** Gemini's JSON as the Python client prints it: the members of parts are spelled with underscores. */
function inCamelCase(name: string) {
  return (span: SpanView): unknown => {
    const value = name === 'llm_request' ? request(span) : json(PREFIX + name)(span);
    return isRecord(value) && Object.keys(value).length > 0
      ? { messages: contentsOf(value).map(toCamelCase), ...system(value) }
      : undefined;
  };
}

function contentsOf(value: Readonly<Record<string, unknown>>): unknown[] {
  return [member(value, 'contents') ?? member(value, 'content') ?? []].flat();
}

function system(request: Readonly<Record<string, unknown>>): object {
  const config = member(request, 'config');
  const said = isRecord(config) ? member(config, 'system_instruction') : undefined;
  return said === undefined ? {} : { system: said };
}

const PARTS: ReadonlyMap<string, string> = new Map([
  ['function_call', 'functionCall'],
  ['function_response', 'functionResponse'],
]);

function toCamelCase(content: unknown): unknown {
  if (!isRecord(content)) return content;
  const parts = member(content, 'parts');
  const renamed = Array.isArray(parts) ? parts.map(renamePart) : [];
  // What tools answered travels as the user's, and is not.
  const isTools = renamed.some((part) => isRecord(part) && 'functionResponse' in part);
  return { ...content, ...(isTools ? { role: 'tool' } : {}), parts: renamed };
}

function renamePart(part: unknown): unknown {
  if (!isRecord(part)) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [PARTS.get(key) ?? key, value]));
}

/** OpenInference, on the invocation: what the runner was called with. */
function newMessage(span: SpanView): unknown {
  const called = json('input.value')(span);
  return isRecord(called) ? member(called, 'new_message') : undefined;
}

function agent(span: SpanView): Agent | undefined {
  const id = /^(?:agent_run \[|invoke_agent )(.+?)\]?$/.exec(span.name)?.[1];
  return id === undefined ? undefined : { id, version: null, model: null };
}

function declarations(span: SpanView): unknown {
  const found = request(span);
  const config = isRecord(found) ? member(found, 'config') : undefined;
  return isRecord(config) ? member(config, 'tools') : undefined;
}
