import type { Agent, Dialect, Reader } from '../dialect.js';
import { isRecord, member, textOrUndefined } from '../json-value.js';
import { json, kindFrom, messages, raw, text, tools, tree, usage } from '../readers.js';
import type { SpanView } from '../span-view.js';

/** Arize's conventions: `openinference.span.kind`, `llm.*`, `input.value`. Messages are numbered attributes. */
export const openinference: Dialect = {
  name: 'openinference',
  speaks: (span) =>
    span.hasFamily('openinference') ||
    span.hasFamily('llm.input_messages') ||
    span.hasFamily('llm.token_count') ||
    span.has('llm.model_name'),
  fields: {
    kind: [
      kindFrom('openinference.span.kind', {
        llm: 'LLM',
        tool: 'TOOL',
        agent: 'AGENT',
        chain: 'CHAIN',
        retriever: 'RETRIEVER',
        reranker: 'RETRIEVER',
        embedding: 'EMBEDDING',
        guardrail: 'CHAIN',
        evaluator: 'CHAIN',
        prompt: 'CHAIN',
      }),
    ],
    name: [text('tool.name')],
    input: [
      messages(tree('llm.input_messages.'), 'user'),
      ofModelCalls(messages(json('llm.prompts'), 'user')),
      ofModelCalls(messages(json('input.value'), 'user')),
      ofTools(raw('tool.parameters')),
      ofTools(raw('input.value')),
      json('input.value'),
    ],
    output: [
      messages(tree('llm.output_messages.'), 'assistant'),
      ofModelCalls(messages(json('output.value'), 'assistant')),
      json('output.value'),
      tree('retrieval.documents.'),
    ],
    model: [text('llm.response.model_name'), text('llm.model_name'), text('embedding.model_name')],
    usage: [
      usage({
        input_tokens: ['llm.token_count.prompt'],
        output_tokens: ['llm.token_count.completion'],
        total_tokens: ['llm.token_count.total'],
        cache_read_input_tokens: ['llm.token_count.prompt_details.cache_read'],
        cache_creation_input_tokens: ['llm.token_count.prompt_details.cache_write'],
        reasoning_output_tokens: ['llm.token_count.completion_details.reasoning'],
      }),
    ],
    tools: [tools(tree('llm.tools.')), tools(json('llm.invocation_parameters'))],
    callId: [text('tool.id'), text('tool_call.id')],
    responseId: [responseId],
    agent: [agent],
  },
  // The same request and answer as the provider's JSON.
  repeats: ['input.value', 'output.value', 'input.mime_type', 'output.mime_type', 'llm.invocation_parameters'],
};

function isKind(span: SpanView, kind: 'LLM' | 'TOOL'): boolean {
  const word = span.peek('openinference.span.kind');
  return typeof word === 'string' && word.toUpperCase() === kind;
}

function ofModelCalls<T>(reader: Reader<T>): Reader<T> {
  return (span) => (isKind(span, 'LLM') ? reader(span) : undefined);
}

function ofTools<T>(reader: Reader<T>): Reader<T> {
  return (span) => (isKind(span, 'TOOL') ? reader(span) : undefined);
}

function responseId(span: SpanView): string | undefined {
  if (!isKind(span, 'LLM')) return undefined;
  const output = json('output.value')(span);
  return isRecord(output) ? textOrUndefined(member(output, 'id')) : undefined;
}

function agent(span: SpanView): Agent | undefined {
  const id = text('agent.name')(span) ?? text('graph.node.id')(span);
  return id === undefined ? undefined : { id, version: null, model: null };
}
