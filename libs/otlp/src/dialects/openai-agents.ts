import type { Tool } from '#contracts';
import type { Agent, Dialect, Reader, TokenUsage } from '../dialect.js';
import { firstMember, fromJsonText, isRecord, member, textOrUndefined } from '../json-value.js';
import { json, kindFrom, messages, raw, text, tools } from '../readers.js';
import type { SpanView } from '../span-view.js';
import { toTools } from '../to-tools.js';

/** Before the members of `span_data` when an export of OpenAI Agents is read as spans (see exports/openai-agents.ts). */
export const AGENTS_PREFIX = 'openai_agents.';

const data = (name: string): string => `${AGENTS_PREFIX}${name}`;

/** OpenAI Agents' own words: `span_data` of its trace export. Of a response only the id is exported, neither words nor calls. */
export const openaiAgents: Dialect = {
  name: 'openai-agents',
  speaks: (span) => span.hasFamily('openai_agents'),
  fields: {
    kind: [
      kindFrom(data('type'), {
        agent: 'AGENT',
        function: 'TOOL',
        generation: 'LLM',
        response: 'LLM',
        custom: 'CHAIN',
        task: 'CHAIN',
        turn: 'CHAIN',
        handoff: 'CHAIN',
        guardrail: 'CHAIN',
      }),
    ],
    input: [
      ofTools(raw(data('input'))),
      messages(json(data('input')), 'user'),
      // What some dump beside the export, from the span itself.
      messages(json(data('_input')), 'user'),
    ],
    output: [ofTools(json(data('output'))), messages(json(data('output')), 'assistant'), messages(response, 'assistant')],
    model: [text(data('model')), (span) => textOrUndefined(fromResponse(span, 'model'))],
    usage: [usage],
    tools: [toolNames, tools((span) => fromResponse(span, 'tools'))],
    responseId: [text(data('response_id')), (span) => textOrUndefined(fromAnswer(span, 'id'))],
    error: [json(data('error'))],
    agent: [agent],
    session: [text(data('group_id'))],
  },
};

function isTool(span: SpanView): boolean {
  return span.peek(data('type')) === 'function';
}

function isAgent(span: SpanView): boolean {
  return span.peek(data('type')) === 'agent';
}

function ofTools<T>(reader: Reader<T>): Reader<T> {
  return (span) => (isTool(span) ? reader(span) : undefined);
}

function response(span: SpanView): unknown {
  return json(data('_response'))(span) ?? json(data('response'))(span);
}

function fromResponse(span: SpanView, key: string): unknown {
  const value = response(span);
  return isRecord(value) ? member(value, key) : undefined;
}

/** A generation's output is the list of the provider's answers, each with its id and its usage. */
function fromAnswer(span: SpanView, key: string): unknown {
  if (isTool(span)) return undefined;
  const first: unknown = [fromJsonText(span.peek(data('output')))].flat()[0];
  return isRecord(first) ? member(first, key) : undefined;
}

const COUNTS = [
  ['input_tokens', ['input_tokens', 'prompt_tokens']],
  ['output_tokens', ['output_tokens', 'completion_tokens']],
  ['total_tokens', ['total_tokens']],
] as const;

/** Of a model call. Agents, turns and tasks repeat the sum of their calls, which would count twice. */
function usage(span: SpanView): TokenUsage | undefined {
  const counts = json(data('usage'))(span) ?? fromResponse(span, 'usage') ?? fromAnswer(span, 'usage');
  if (!isRecord(counts)) return undefined;
  const found = COUNTS.map(([name, keys]) => [name, firstMember(counts, keys)] as const);
  return Object.fromEntries(found.filter((pair): pair is readonly [(typeof pair)[0], number] => typeof pair[1] === 'number'));
}

/** An agent's tools, by name only: what they take is not exported. */
function toolNames(span: SpanView): readonly Tool[] | undefined {
  const names = isAgent(span) ? span.attribute(data('tools')) : undefined;
  if (!Array.isArray(names)) return undefined;
  return toTools(names.map((name: unknown) => (typeof name === 'string' ? { name } : name)));
}

function agent(span: SpanView): Agent | undefined {
  return isAgent(span) && span.name !== '' ? { id: span.name, version: null, model: null } : undefined;
}
